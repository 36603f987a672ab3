/** Measures how the phases of planning scale with the size of the fleet. */
import type { Bench } from '../bench.ts'
import { node } from '../run-process.ts'
import { startServer } from '../start-server.ts'
import { figureOf } from '../statistics.ts'
import type { Cell, Section } from '../table.ts'
import type { World } from '../worlds.ts'

const PHASES = ['validate', 'snapshot', 'plan', 'render'] as const
/** Fleets with a hundred computes per project. */
const SIZES = [1_000, 10_000, 100_000].map((computes): World & { kind: 'fleet' } => ({
  kind: 'fleet',
  computes,
  projects: computes / 100,
}))

interface Taken {
  readonly ms: number
  readonly peakMiB: number
}

export const growthSection = async ({ runs, quick, built }: Bench): Promise<Section> => {
  const taken = new Map<string, Taken[][]>(PHASES.map((phase) => [phase, []]))
  const sizes = quick ? SIZES.slice(0, 2) : SIZES
  for (const world of sizes) {
    const server = await startServer({ world })
    for (const phase of PHASES) {
      const all: Taken[] = []
      for (let run = 0; run < runs; run += 1) {
        const args = ['--expose-gc', `${built}/phase.js`, phase, JSON.stringify(world), server.url, server.key]
        all.push(JSON.parse((await node(args, { keepOutput: true })).stdout))
      }
      taken.get(phase)?.push(all)
    }
    await server.stop()
  }
  return {
    name: 'Growth',
    about:
      'Each phase runs in a separate process. Each project has a hundred computes. Memory is the peak during the phase and includes the input of the phase. The last columns compare the two largest fleets: how much longer the larger one takes, and the increase for each additional compute.',
    rows: PHASES.map((phase) => rowOf(phase, sizes, taken.get(phase) ?? [])),
  }
}

const rowOf = (
  phase: string,
  sizes: readonly { computes: number }[],
  taken: readonly Taken[][],
): Record<string, Cell> => {
  const row: Record<string, Cell> = { phase }
  const medians = taken.map((all, index) => {
    const ms = figureOf(all.map((one) => one.ms))
    const peak = figureOf(all.map(({ peakMiB }) => peakMiB))
    const name = (sizes[index]?.computes ?? 0).toLocaleString('en-US')
    row[`${name}: ms`] = ms
    row[`${name}: MiB`] = peak
    return { ms: ms.median, peakMiB: peak.median, computes: sizes[index]?.computes ?? 0 }
  })
  const [before, last] = medians.slice(-2)
  if (before === undefined || last === undefined) return row
  const more = last.computes - before.computes
  row['time, relative to a tenth of the computes'] = last.ms / before.ms
  row['µs per compute'] = ((last.ms - before.ms) * 1_000) / more
  row['KiB per compute'] = ((last.peakMiB - before.peakMiB) * 1_024) / more
  return row
}
