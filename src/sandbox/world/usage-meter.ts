/**
 * Measures usage as the service does: active seconds, and active seconds multiplied by the size. The counters are
 * published every 15 minutes and reset at the start of each calendar month.
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

/** The usage of a project or branch in the month since `month`. */
interface Sums {
  readonly month: number
  /** When counters were last published. */
  readonly until: number
  /** The usage of the periods that ended before then. */
  readonly ended: { active: number; compute: number }
  /** All other periods. */
  readonly periods: Period[]
}

export class UsageMeter {
  readonly #now: () => number
  readonly #open = new Map<string, Period>()
  /** By the id of the project or branch. Sums instead of all periods, because autoscaling changes sizes often. */
  readonly #sums = new Map<string, Sums>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** The current size of a compute in CU. It is not a part of the record, and begins with the minimum. */
  sizeOf({ id, min, max }: ComputeRecord): number {
    return Math.min(max, Math.max(min, this.#open.get(id)?.cu ?? min))
  }

  note(compute: ComputeRecord, cu = this.sizeOf(compute)): void {
    const { id, projectId, branchId, state, startedAt } = compute
    const before = this.#open.get(id)
    if (before !== undefined && state === 'active' && before.branchId === branchId && before.cu === cu) return
    this.forget({ id })
    if (state !== 'active') return
    // A compute from the store or from a seed may already have been active for some time.
    const from = before === undefined ? (startedAt ?? this.#now()) : this.#now()
    const period = { projectId, branchId, cu, from }
    this.#open.set(id, period)
    for (const key of [projectId, branchId]) this.#sumsOf(key).periods.push(period)
  }

  /** Call when a compute becomes idle or is deleted. Its usage until then remains in the counters. */
  forget({ id }: Pick<ComputeRecord, 'id'>): void {
    const open = this.#open.get(id)
    if (open !== undefined) open.to = this.#now()
    this.#open.delete(id)
  }

  clear(): void {
    this.#open.clear()
    this.#sums.clear()
  }

  /** The last published counters of a project or branch. */
  of(id: string): UsageCounters {
    const { ended, periods, ...span } = this.#sumsOf(id)
    const sum = { ...ended }
    for (const period of periods) add(sum, period, span)
    return { activeSeconds: Math.floor(sum.active / 1_000), computeSeconds: Math.floor(sum.compute / 1_000) }
  }

  #sumsOf(id: string): Sums {
    const now = this.#now()
    const span = { month: monthOf(now).start, until: Math.floor(now / PUBLISHED_EVERY_MS) * PUBLISHED_EVERY_MS }
    const known = this.#sums.get(id)
    if (known?.until === span.until) return known
    const ended = known?.month === span.month ? known.ended : { active: 0, compute: 0 }
    const sums: Sums = { ...span, ended, periods: [] }
    for (const period of known?.periods ?? []) {
      if (period.to === undefined || period.to > span.until) sums.periods.push(period)
      else add(ended, period, span)
    }
    this.#sums.set(id, sums)
    return sums
  }
}

/** Adds the part of a period that is in the month and published. */
const add = (usage: Sums['ended'], { from, to, cu }: Period, { month, until }: Pick<Sums, 'month' | 'until'>): void => {
  const active = Math.max(0, Math.min(to ?? until, until) - Math.max(from, month))
  usage.active += active
  usage.compute += active * cu
}

/** The consumption period, which is a calendar month in UTC. Times are in milliseconds since the epoch. */
export const monthOf = (time: number): { readonly start: number; readonly end: number } => {
  const date = new Date(time)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) }
}
