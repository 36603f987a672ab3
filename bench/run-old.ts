/** `npm run bench`: what planning a fleet costs, phase by phase, and how it grows. Prints a table. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { FleetSize } from './fleet.ts'

const SIZES: readonly FleetSize[] = [
  { computes: 1_000, projects: 10 },
  { computes: 10_000, projects: 100 },
  { computes: 100_000, projects: 1_000 },
]
const PHASES = ['parse', 'snapshot', 'plan', 'render'] as const
const RUNS = 3
const TSX = ['--import', 'tsx']

interface Figure {
  readonly ms: number
  readonly peakMiB: number
}

const execute = promisify(execFile)

const runPhase = async (phase: string, size: FleetSize, url: string, key: string): Promise<Figure> => {
  const args = [...TSX, '--expose-gc', 'bench/phase.ts', phase, `${size.computes}`, `${size.projects}`, url, key]
  const { stdout } = await execute(process.execPath, args, { maxBuffer: 1 << 26 })
  return JSON.parse(stdout) as Figure
}

/** The middle one by time. */
const median = (figures: readonly Figure[]): Figure =>
  figures.toSorted((a, b) => a.ms - b.ms)[Math.floor(figures.length / 2)] ?? { ms: 0, peakMiB: 0 }

const startServer = async (size: FleetSize) => {
  const child = spawn(process.execPath, [...TSX, 'bench/server.ts', `${size.computes}`, `${size.projects}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value ?? '{}') as Record<string, never>
  const { url, key } = await next()
  return {
    url: String(url),
    key: String(key),
    /** Requests since it was last asked. */
    requests: async (): Promise<number> => {
      child.stdin.write('\n')
      return Number((await next()).requests)
    },
    stop: async (): Promise<void> => {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

const cell = (text: string, width: number): string => text.padStart(width)
const row = (cells: readonly string[]): string => cells.map((text, index) => cell(text, index === 0 ? 9 : 20)).join('')

console.log(`Node ${process.version}, median of ${RUNS} runs, each phase in a process of its own: time, peak memory\n`)
console.log(row(['computes', 'projects', ...PHASES, 'requests a snapshot']))
const totals: Record<string, number>[] = []
for (const size of SIZES) {
  const server = await startServer(size)
  const figures: Record<string, Figure> = {}
  let requests = 0
  for (const phase of PHASES) {
    const runs: Figure[] = []
    for (let run = 0; run < RUNS; run += 1) {
      await server.requests()
      runs.push(await runPhase(phase, size, server.url, server.key))
      if (phase === 'snapshot') requests = await server.requests()
    }
    figures[phase] = median(runs)
  }
  await server.stop()
  const shown = PHASES.map((phase) => `${figures[phase]?.ms.toFixed(0)} ms, ${figures[phase]?.peakMiB.toFixed(0)} MiB`)
  console.log(row([`${size.computes}`, `${size.projects}`, ...shown, `${requests}`]))
  totals.push(Object.fromEntries(PHASES.map((phase) => [phase, figures[phase]?.ms ?? 0])))
}

console.log('\nGrowth of the time for ten times the computes (10 is linear):')
for (const phase of PHASES) {
  const ratios = totals.slice(1).map((total, index) => (total[phase] ?? 0) / (totals[index]?.[phase] ?? 1))
  console.log(`  ${phase.padEnd(9)} ${ratios.map((ratio) => ratio.toFixed(1)).join(', then ')}`)
}
