/** Compares `espalier plan` with the service's own `neon config plan`, which covers only the settings of primaries. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { node, run, type Took, timeIsMissing } from '../run-process.ts'
import { type Server, startServer } from '../start-server.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { Cell, Section } from '../table.ts'
import { branchNames, manifestOf, projectId, type World } from '../worlds.ts'

const PROGRAM = join('bench', 'node_modules', 'neon', 'dist', 'cli.js')
/** The same settings as in the manifest. */
const POLICY =
  'export default { branch: () => ({ postgres: { computeSettings: { autoscalingLimitMinCu: 2, autoscalingLimitMaxCu: 2 } } }) }\n'

export const neonSection = async (bench: Bench): Promise<Section> => {
  const name = 'Compared with neon config plan'
  const about =
    'In one project, every primary gets a larger size. `neon config plan` handles one branch at a time, so it runs once for each branch. `espalier plan` runs only once, with the rate limit of its client.'
  try {
    // npm gets the whole environment, because it may contain the configuration of the registry.
    const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']))
    await run('npm', ['ci', '--prefix', 'bench', '--ignore-scripts', '--no-audit', '--no-fund'], { env })
  } catch {
    return { name, about, rows: [], skipped: ['the npm package neon could not be installed in bench/.'] }
  }
  const rows: Record<string, Cell>[] = []
  for (const branches of bench.quick ? [1] : [1, 10]) {
    const world: World = { kind: 'primaries', branches }
    const server = await startServer({ world })
    for (const latencyMs of [0, 50]) {
      await server.setLatency(latencyMs)
      rows.push({ branches, 'latency, ms': latencyMs, ...(await measure(bench, server, world)) })
    }
    await server.stop()
  }
  return { name, about, rows }
}

interface Round {
  readonly ms: number
  readonly cpuMs: number
  readonly requests: number
}

const measure = async ({ runs, folder }: Bench, server: Server, world: World): Promise<Record<string, Cell>> => {
  const home = await mkdtemp(join(folder, 'neon-'))
  const policy = join(home, 'neon.mjs')
  const manifest = join(home, 'espalier.yaml')
  await writeFile(policy, POLICY)
  await writeFile(manifest, manifestOf(world))
  const neon = (branch: string): Promise<Took> =>
    node(
      [
        join(process.cwd(), PROGRAM),
        ...['config', 'plan', '--branch', branch, '--project-id', projectId(0), '--config', policy, '-o', 'json'],
        ...['--api-host', server.url, '--api-key', server.key, '--no-analytics', '--config-dir', home],
      ],
      // The command must not be able to send requests to anything except the sandbox.
      { cwd: home, env: { HOME: home, CI: '1', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' } },
    )
  const round = async (work: () => Promise<readonly Took[]>): Promise<Round> => {
    await server.seen()
    const took = await work()
    const { requests } = await server.seen()
    const sum = (of: (one: Took) => number): number => took.reduce((total, one) => total + of(one), 0)
    return { ms: sum(({ ms }) => ms), cpuMs: sum(({ cpuMs = 0 }) => cpuMs), requests: requests.length }
  }
  const ours: Round[] = []
  const theirs: Round[] = []
  for (let turn = 0; turn < runs; turn += 1) {
    ours.push(await round(async () => [await node(['dist/main.js', 'plan', manifest], { env: server.env })]))
    theirs.push(
      await round(async () => {
        const took: Took[] = []
        for (const branch of branchNames(world)) took.push(await neon(branch))
        return took
      }),
    )
  }
  const of = (rounds: readonly Round[], what: keyof Round) => rounds.map((one) => one[what])
  return {
    'espalier: requests': ours[0]?.requests ?? 0,
    'espalier: wall, ms': figureOf(of(ours, 'ms')),
    'neon: requests': theirs[0]?.requests ?? 0,
    'neon: wall, ms': figureOf(of(theirs, 'ms')),
    'wall, espalier/neon': ratioOf(of(ours, 'ms'), of(theirs, 'ms')),
    ...(timeIsMissing ? {} : { 'CPU, espalier/neon': ratioOf(of(ours, 'cpuMs'), of(theirs, 'cpuMs')) }),
  }
}
