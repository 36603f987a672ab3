/** Full refreshes, which read branches and settings as well as computes. */
import { expect, onTestFinished, test } from 'vitest'
import { seeded } from './month.ts'
import { MINUTE, manifestOf, openWorld, projectSeed } from './running.ts'

const PROJECTS = 20
const ids = Array.from({ length: PROJECTS }, (_, index) => `fleet-${String(index).padStart(8, '0')}`)

test('full refreshes are spread out, even though the agent read every project in full when it started', async () => {
  const fullReads: number[] = []
  const world = await openWorld(
    {
      projects: ids.map((id) => projectSeed(id, id)),
    },
    { onHandled: (_method, path) => void (/\/branches(?:\?|$)/.test(path) && fullReads.push(world.stage.clock.now())) },
  )
  onTestFinished(() => world.close())
  await world.declareAll(ids.map((id) => manifestOf(id, 1)))
  const startedAt = world.stage.clock.now()
  await world.start({ random: seeded(), interval: 5 * MINUTE })
  await world.pass(60 * MINUTE)
  const perInterval = Array.from(
    { length: 12 },
    (_, index) => fullReads.filter((time) => Math.floor((time - startedAt) / (5 * MINUTE)) === index).length,
  )
  // On average, every sixth refresh of a project is a full one: the first, and about two more within the hour.
  expect(fullReads.length).toBeGreaterThan(2 * PROJECTS)
  expect(fullReads.length).toBeLessThan(4 * PROJECTS)
  expect(Math.max(...perInterval.slice(2))).toBeLessThanOrEqual(PROJECTS / 2)
})
