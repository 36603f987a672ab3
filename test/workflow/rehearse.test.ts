import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { planSnapshot, rehearse } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

test('a rehearsal succeeds on a machine that is so busy that minutes pass between two lines', async () => {
  const text = `version: 1\nproject: ${PROJECT}\nbranches:\n  main: { primary: { size: 2 } }\n  dev: { primary: { size: 2 } }\n`
  const loaded = parseManifests([{ path: 'espalier.yaml', text }])
  const observed = world({ main: { primary: { size: 1 } }, dev: { primary: { size: 1 } } })
  let late = 0
  const busy = {
    ...systemClock,
    now: () => {
      late += 60_000
      return systemClock.now() + late
    },
  }
  const { outcome, isGood } = await rehearse(planSnapshot(observed, { loaded, paths: ['espalier.yaml'] }), busy)
  expect(outcome.steps.map(({ status }) => status)).toEqual(['done', 'done'])
  expect(isGood).toBe(true)
})
