import { expect, test } from 'vitest'

/** `npm test` runs a part of the cases, `npm run test:long` all of them. Tests that import this file run in both. */
export const isLong = process.env.ESPALIER_LONG_TESTS === '1'

/** A test that only `npm run test:long` runs. */
export const longTest = test.runIf(isLong)

/** By default, every n-th case, starting with the first. */
export const part = <T>(all: readonly T[], n: number): readonly T[] =>
  all.filter((_, index) => isLong || index % n === 0)

/** The number of runs of a property test: by default 2% of `all`, but at least 10. */
export const runs = (all: number): number => (isLong ? all : Math.min(all, Math.max(10, Math.round(all * 0.02))))

/**
 * Verifies that a property test is not vacuous: more than `least` of its random cases must have been relevant. Checked
 * only in the long run, because a part of the cases may miss it by chance.
 */
export const expectEnough = (count: number, least: number): void => {
  if (isLong) expect(count).toBeGreaterThan(least)
}
