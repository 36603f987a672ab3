/** An agent that is killed at each of its writes, and the one that is started after it. */
import { afterEach, expect, test } from 'vitest'
import { isLong } from '../long-runs.ts'
import { MINUTE, openWorld, projectOf, type World } from './running.ts'

const PROJECT = 'quiet-river-12345678'
const SEED = {
  projects: [
    {
      id: PROJECT,
      branches: [
        {
          id: 'br-main-11111111',
          name: 'main',
          computes: [{ id: 'ep-main-11111111', size: 1, scaleToZero: 'never' as const }],
        },
      ],
    },
  ],
}
const manifest = (size: number, replicas = ''): string =>
  `version: 1\nproject: ${PROJECT}\nbranches:\n  main:\n    primary: { size: ${size} }\n${replicas}`
const BEFORE = manifest(1)
const AFTER = manifest(2, '    replicas: { reporting: { size: 0.5 } }\n')

let world: World
afterEach(() => world.close())

const computesOf = ({ stage }: World): number =>
  stage.sandbox.control.dump().changes.filter((change) => 'put' in change && change.put.kind === 'compute').length

test.each([true, false])(
  'nothing is applied twice, and nothing is forgotten (write done: %s)',
  async (isDone) => {
    let deaths = 0
    for (let write = 1; ; write += isLong ? 1 : 2) {
      world = await openWorld(SEED)
      await world.declare(BEFORE)
      const first = await world.start()
      await world.pass(MINUTE)
      expect(projectOf(first, PROJECT).state).toBe('Synced')
      first.stop()
      await world.pass(2 * MINUTE)

      await world.declare(AFTER)
      const doomed = await world.startDoomed(write, isDone)
      await world.pass(5 * MINUTE)
      const isDead = doomed.isDead()
      if (isDead) {
        deaths += 1
        const agent = await world.start()
        await world.pass(10 * MINUTE)
        const { state, message } = projectOf(agent, PROJECT)
        expect({ write, state, message }).toEqual({ write, state: 'Synced' })
      }
      const sent = world.writes().map((line) => line.split(' ').slice(1, 3).join(' '))
      expect({ write, sent: sent.filter((line) => line.startsWith('PATCH')) }).toEqual({
        write,
        sent: [`PATCH /api/v2/projects/${PROJECT}/endpoints/ep-main-11111111`],
      })
      expect(sent.filter((line) => line.startsWith('POST'))).toHaveLength(1)
      expect(computesOf(world)).toBe(2)
      if (!isDead) break
      await world.close()
    }
    expect(deaths).toBeGreaterThan(3)
  },
  120_000,
)
