/**
 * Measures usage as the service does: active seconds, and active seconds multiplied by the size. The counters are
 * published every 15 minutes and reset at the start of each calendar month. The usage of an autoscaling compute is
 * calculated with its minimum size, because computes in the sandbox have no load.
 */
import type { ComputeRecord } from './records.ts'

const PUBLISHED_EVERY_MS = 15 * 60_000

interface UsageCounters {
  readonly activeSeconds: number
  readonly computeSeconds: number
}

/** A period in which a compute was active and kept its size and branch. Times are in milliseconds since the epoch. */
interface Period {
  readonly projectId: string
  readonly branchId: string
  readonly cu: number
  readonly from: number
  to?: number
}

export class UsageMeter {
  readonly #now: () => number
  readonly #open = new Map<string, Period>()
  /** The counters, by the id of the project or branch. */
  readonly #periods = new Map<string, Period[]>()

  constructor(now: () => number) {
    this.#now = now
  }

  note({ id, projectId, branchId, state, min, startedAt }: ComputeRecord): void {
    const open = this.#open.get(id)
    const isSame = open !== undefined && state === 'active' && open.branchId === branchId && open.cu === min
    if (isSame) return
    this.forget({ id })
    if (state !== 'active') return
    // A compute from the store or from a seed may already have been active for some time.
    const from = open === undefined ? (startedAt ?? this.#now()) : this.#now()
    const period: Period = { projectId, branchId, cu: min, from }
    this.#open.set(id, period)
    for (const key of [projectId, branchId]) {
      const known = this.#periods.get(key)
      if (known === undefined) this.#periods.set(key, [period])
      else known.push(period)
    }
  }

  /** Call when a compute becomes idle or is deleted. Its usage until then remains in the counters. */
  forget({ id }: Pick<ComputeRecord, 'id'>): void {
    const open = this.#open.get(id)
    if (open !== undefined) open.to = this.#now()
    this.#open.delete(id)
  }

  clear(): void {
    this.#open.clear()
    this.#periods.clear()
  }

  /** The last published counters of a project or branch. */
  of(id: string): UsageCounters {
    const now = this.#now()
    const start = monthOf(now).start
    const end = Math.floor(now / PUBLISHED_EVERY_MS) * PUBLISHED_EVERY_MS
    const current = (this.#periods.get(id) ?? []).filter(({ to }) => to === undefined || to > start)
    this.#periods.set(id, current)
    let active = 0
    let compute = 0
    for (const { from, to, cu } of current) {
      const seconds = Math.max(0, Math.min(to ?? end, end) - Math.max(from, start)) / 1_000
      active += seconds
      compute += seconds * cu
    }
    return { activeSeconds: Math.floor(active), computeSeconds: Math.floor(compute) }
  }
}

/** The consumption period, which is a calendar month in UTC. Times are in milliseconds since the epoch. */
export const monthOf = (time: number): { readonly start: number; readonly end: number } => {
  const date = new Date(time)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) }
}
