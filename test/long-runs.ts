import { expect } from 'vitest'

/** How much is tried: `npm test` tries a part, `npm run test:long` everything. A test that imports this runs in both. */
export const isLong = process.env.ESPALIER_LONG_TESTS === '1'

/** Every n-th of `all` by default, from the first on. */
export const part = <T>(all: readonly T[], n: number): readonly T[] =>
  all.filter((_, index) => isLong || index % n === 0)

/** Runs of a property test: 5% of `all` by default, but never fewer than 20. */
export const runs = (all: number): number => (isLong ? all : Math.min(all, Math.max(20, Math.round(all * 0.05))))

/**
 * That a property was not true of nothing: more than `least` of its random cases reached what it is about. Only the
 * long run checks that, since a part of the cases may miss it by chance.
 */
export const expectEnough = (count: number, least: number): void => {
  if (isLong) expect(count).toBeGreaterThan(least)
}
