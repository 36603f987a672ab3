/**
 * Measures the memory of listing operations. Only one page at a time is in memory, however many operations there are.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { NO_TIME, node, type Took, timeIsMissing } from '../run-process.ts'
import { startServer } from '../start-server.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { Section } from '../table.ts'
import { manifestOf, type World } from '../worlds.ts'

const OPERATIONS = 10_000
/** The maximum page size of the API. */
const PAGE = 1_000

export const operationsSection = async ({ runs, folder }: Bench): Promise<Section> => {
  const world: World = { kind: 'operations', operations: OPERATIONS }
  const server = await startServer({ world })
  await writeFile(join(folder, 'espalier.yaml'), manifestOf(world))
  const main = join(process.cwd(), 'dist/main.js')
  const list = (...flags: readonly string[]): Promise<Took> =>
    node([main, 'operations', 'list', '--format', 'json', ...flags], { cwd: folder, env: server.env })
  const all: Took[] = []
  const page: Took[] = []
  for (let run = 0; run < runs; run += 1) {
    page.push(await list('--limit', String(PAGE)))
    all.push(await list('--limit', '0'))
  }
  await server.stop()
  const peak = (took: readonly Took[]) => took.map(({ peakMiB = 0 }) => peakMiB)
  const row = (what: string, took: readonly Took[]) => ({
    what,
    'wall, ms': figureOf(took.map(({ ms }) => ms)),
    'peak memory, MiB': figureOf(peak(took)),
    'memory, relative to one page': ratioOf(peak(took), peak(page)),
  })
  return {
    name: 'Operations',
    about: `\`espalier operations list\` is run with all ${OPERATIONS.toLocaleString('en-US')} operations and with one page of them.`,
    rows: timeIsMissing ? [] : [row(`one page, ${PAGE.toLocaleString('en-US')}`, page), row('--limit 0', all)],
    ...(timeIsMissing ? { skipped: [NO_TIME] } : {}),
  }
}
