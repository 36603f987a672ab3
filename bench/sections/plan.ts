/** Compares the time to plan a fleet with the time to send the same requests and discard the responses. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { NO_TIME, node, type Took, timeIsMissing } from '../run-process.ts'
import { type Server, startServer } from '../start-server.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { Cell, Section } from '../table.ts'
import { manifestOf, type World } from '../worlds.ts'

/** The API returns all computes of a project in one response, and Espalier rejects responses of more than 32 MiB. */
const MOST_IN_A_PROJECT = 25_000

const SIZES = [1, 100, 1_000, 10_000, 100_000].flatMap((computes) =>
  [1, 10, 1_000]
    .filter((projects) => projects <= computes && computes / projects <= MOST_IN_A_PROJECT)
    .map((projects): World & { kind: 'fleet' } => ({ kind: 'fleet', computes, projects })),
)

/** The effect of latency depends only on the number of requests, so a few fleets are enough. */
const WITH_LATENCY = new Set(['1/1', '1000/10', '1000/1000', '100000/1000'])

export const planSection = async (bench: Bench): Promise<Section> => {
  const rows: Record<string, Cell>[] = []
  for (const world of bench.quick ? SIZES.filter(({ computes }) => computes <= 1_000) : SIZES) {
    const server = await startServer({ world })
    const manifest = join(bench.folder, 'fleet.yaml')
    await writeFile(manifest, manifestOf(world))
    for (const latencyMs of WITH_LATENCY.has(`${world.computes}/${world.projects}`) ? [0, 50] : [0]) {
      await server.setLatency(latencyMs)
      rows.push({
        computes: world.computes,
        projects: world.projects,
        'latency, ms': latencyMs,
        ...(await measure(bench, server, manifest)),
      })
    }
    await server.stop()
  }
  return {
    name: 'Plan',
    about:
      "A process does the work of `espalier plan`, without its client's rate limit. The floor is a process that only sends the same requests, at most sixteen at a time, and discards the responses. The two processes run alternately. There is no row for 100,000 computes in one project, because the API returns all computes of a project in one response, and Espalier reads at most 32 MiB (about 25,000 computes).",
    rows,
    ...(timeIsMissing ? { skipped: [NO_TIME] } : {}),
  }
}

const measure = async ({ runs, built }: Bench, server: Server, manifest: string): Promise<Record<string, Cell>> => {
  const plans: Took[] = []
  const floors: Took[] = []
  let paths: readonly string[] = []
  for (let run = 0; run < runs; run += 1) {
    await server.seen()
    plans.push(await node([join(built, 'plan.js'), manifest, server.url, server.key]))
    paths = (await server.seen()).requests.map(({ path }) => path)
    floors.push(await node([join(built, 'floor.js'), server.url, server.key], { input: paths.join('\n') }))
  }
  const wall = plans.map(({ ms }) => ms)
  const bare = floors.map(({ ms }) => ms)
  return {
    requests: paths.length,
    'wall, ms': figureOf(wall),
    ...(timeIsMissing
      ? {}
      : {
          'CPU, ms': figureOf(plans.map(({ cpuMs = 0 }) => cpuMs)),
          'peak memory, MiB': figureOf(plans.map(({ peakMiB = 0 }) => peakMiB)),
        }),
    'floor, ms': figureOf(bare),
    'relative to the floor': ratioOf(wall, bare),
  }
}
