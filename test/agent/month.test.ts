import { expect, test } from 'vitest'
import { isLong } from '../long-runs.ts'
import { seeded, simulateMonth } from './month.ts'
import { MINUTE } from './running.ts'

test('during days of commits, manual changes, faults and restarts, nothing restarts outside its window and every project converges', async () => {
  const projects = isLong ? 20 : 3
  const { watch } = await simulateMonth({ projects, days: isLong ? 6 : 1, interval: 60 * MINUTE, random: seeded(4) })
  expect(watch.problems).toEqual([])
  expect(watch.mostRequestsAMinute).toBeLessThanOrEqual(350)
  expect(watch.changes).toBeGreaterThan(projects / 4)
}, 900_000)
