import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manualClock } from '../../src/sandbox/index.ts'

test('due tasks run in order and at their own times, including tasks that they schedule', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 50 })), async (delays) => {
      const clock = manualClock(1_000)
      const ran: [number, number][] = []
      for (const delay of delays) {
        clock.at(1_000 + delay, () => {
          ran.push([clock.now(), 1_000 + delay])
          clock.at(clock.now() + 10, () => ran.push([clock.now(), 1_010 + delay]))
        })
      }
      await clock.advance(60)
      expect(ran).toHaveLength(delays.length * 2)
      expect(ran.every(([now, due]) => now === due)).toBe(true)
      expect(ran.map(([now]) => now)).toEqual(ran.map(([now]) => now).sort((a, b) => a - b))
      expect(clock.now()).toBe(1_060)
    }),
  )
})

test('a task does not run before its time, or after it was cancelled', async () => {
  const clock = manualClock(0)
  const ran: string[] = []
  clock.at(10, () => ran.push('due'))
  const takeBack = clock.at(5, () => ran.push('taken back'))
  takeBack()
  takeBack()
  await clock.advance(9)
  expect(ran).toEqual([])
  await clock.advance(1)
  expect(ran).toEqual(['due'])
})

test('tasks for the same time run in scheduling order, and overdue tasks run when the clock next advances', async () => {
  const clock = manualClock(100)
  const ran: string[] = []
  for (const name of ['a', 'b', 'c']) clock.at(110, () => ran.push(name))
  clock.at(50, () => ran.push(`past at ${clock.now()}`))
  await clock.advance(10)
  expect(ran).toEqual(['past at 100', 'a', 'b', 'c'])
})
