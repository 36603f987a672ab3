/** Every run of small worlds with at most two disturbances. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isLong } from '../long-runs.ts'
import { type Direct, openDirect } from './direct.ts'
import { search } from './search.ts'
import { SMALLEST, shapes } from './shapes.ts'

let direct: Direct
beforeAll(async () => {
  direct = await openDirect()
})
afterAll(() => direct.sandbox.close())

test.each(
  isLong
    ? [
        { most: 1, of: 4 },
        { most: 2, of: 370 },
      ]
    : [{ most: 1, of: 0 }],
)(
  'with at most $most disturbances, every run of a small world keeps its promises',
  async ({ most, of }) => {
    const worlds = of === 0 ? SMALLEST : shapes().filter((_, index) => index % of === 0)
    let [runs, merged] = [0, 0]
    for (const world of worlds) {
      const found = await search(direct, world, most)
      runs += found.runs
      merged += found.merged
      expect(found.violation, JSON.stringify(world.declared)).toBeUndefined()
    }
    process.stdout.write(`${worlds.length} shapes, ${runs} runs, ${merged} merged: no violation\n`)
    expect(runs).toBeGreaterThan(40 * worlds.length)
  },
  1_800_000,
)
