import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mapConcurrently } from '../../src/base/index.ts'

test('mapConcurrently returns results in the order of the items and never exceeds the concurrency', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 20 }), fc.integer({ min: 1, max: 6 }), async (items, limit) => {
      let running = 0
      let most = 0
      const results = await mapConcurrently(items, limit, async (turns) => {
        running += 1
        most = Math.max(most, running)
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        running -= 1
        return turns * 2
      })
      expect(results).toEqual(items.map((turns) => turns * 2))
      expect(most).toBeLessThanOrEqual(limit)
    }),
  )
})

test('mapConcurrently starts no further items after a failure', async () => {
  const started: number[] = []
  const run = mapConcurrently([1, 2, 3, 4, 5, 6], 2, async (item) => {
    started.push(item)
    await Promise.resolve()
    if (item === 2) throw new Error('broken')
  })
  await expect(run).rejects.toThrow('broken')
  expect(started.length).toBeLessThan(5)
})
