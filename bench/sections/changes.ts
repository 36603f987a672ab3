/** Measures a small change of a large fleet, as a whole process, against the time that the operations take. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { groupBy } from '../../src/base/index.ts'
import type { Bench } from '../bench.ts'
import { node } from '../run-process.ts'
import { type SeenOperation, startServer } from '../start-server.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { Cell, Section } from '../table.ts'
import { manifestOf, type World } from '../worlds.ts'

const LATENCY_MS = 50
const SCENARIOS = [0, 0.1].flatMap((spread) =>
  [200, 1_000].map((computes) => ({
    spread,
    world: { kind: 'fleet', computes, projects: 10, changes: 2 } satisfies World,
  })),
)

type Scenario = (typeof SCENARIOS)[number]

export const changesSection = async ({ runs, folder }: Bench): Promise<Section> => {
  const taken = SCENARIOS.map((): { ms: number; operationsMs: number }[] => [])
  // The scenarios alternate, so that other load affects all of them.
  for (let run = 0; run < runs; run += 1) {
    for (const [index, scenario] of SCENARIOS.entries()) {
      taken[index]?.push(await measure(scenario, join(folder, 'changes.yaml')))
    }
  }
  return {
    name: 'Changes',
    about: `\`espalier apply\` makes 20 changes in 10 projects, at ${LATENCY_MS} ms latency. The time is that of the whole process: start-up, reading, changes and the final check. The operations of a project run one after the other, so no program can be faster than those of the slowest project.`,
    rows: SCENARIOS.map(({ world, spread }, index): Record<string, Cell> => {
      const all = taken[index] ?? []
      const [wall, operations] = [all.map(({ ms }) => ms), all.map(({ operationsMs }) => operationsMs)]
      return {
        computes: world.computes,
        operations: spread === 0 ? '1500 ms' : `1500 ms ± ${spread * 100}%`,
        'wall, ms': figureOf(wall),
        'operations of the slowest project, ms': figureOf(operations),
        'wall relative to the operations': ratioOf(wall, operations),
      }
    }),
  }
}

const measure = async ({ world, spread }: Scenario, manifest: string) => {
  const server = await startServer({ world, durations: { apply_config: 1_500 }, durationSpread: spread })
  try {
    await writeFile(manifest, manifestOf(world))
    await server.setLatency(LATENCY_MS)
    const past = new Set((await server.seen()).operations.map(({ id }) => id))
    const { ms } = await node(['dist/main.js', 'apply', manifest, '--auto-approve'], { env: server.env })
    const own = (await server.seen()).operations.filter(({ id }) => !past.has(id))
    if (own.length !== world.projects * world.changes) throw new Error(`there were ${own.length} operations`)
    return { ms, operationsMs: Math.max(...[...groupBy(own, ({ projectId }) => projectId).values()].map(total)) }
  } finally {
    await server.stop()
  }
}

const total = (operations: readonly SeenOperation[]): number =>
  operations.reduce((sum, { startedAt, updatedAt }) => sum + updatedAt - startedAt, 0)
