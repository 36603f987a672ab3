/**
 * What computes use, as the service counts it: seconds while active, and the same times the size. Counters are published
 * every 15 minutes and start again with each calendar month. A simulated compute has no load, so in a range it stays at
 * its minimum.
 */
import type { ComputeRecord } from './records.ts'

const PUBLISHED_EVERY_MS = 15 * 60_000

export interface UsageCounters {
  readonly activeSeconds: number
  readonly computeSeconds: number
}

/** A stretch during which a compute was active at one size. */
interface Stretch {
  readonly projectId: string
  readonly branchId: string
  readonly cu: number
  readonly from: number
  to?: number
}

export class UsageMeter {
  readonly #now: () => number
  readonly #open = new Map<string, Stretch>()
  /** By project and by branch. */
  readonly #stretches = new Map<string, Stretch[]>()

  constructor(now: () => number) {
    this.#now = now
  }

  note({ id, projectId, branchId, state, min, startedAt }: ComputeRecord): void {
    const open = this.#open.get(id)
    const isSame = open !== undefined && state === 'active' && open.branchId === branchId && open.cu === min
    if (isSame) return
    this.forget({ id })
    if (state !== 'active') return
    // A compute from the store or a seed has been active for a while.
    const from = open === undefined ? (startedAt ?? this.#now()) : this.#now()
    const stretch: Stretch = { projectId, branchId, cu: min, from }
    this.#open.set(id, stretch)
    for (const key of [projectId, branchId]) {
      const known = this.#stretches.get(key)
      if (known === undefined) this.#stretches.set(key, [stretch])
      else known.push(stretch)
    }
  }

  /** The compute is idle or deleted; what it used stays counted. */
  forget({ id }: Pick<ComputeRecord, 'id'>): void {
    const open = this.#open.get(id)
    if (open !== undefined) open.to = this.#now()
    this.#open.delete(id)
  }

  clear(): void {
    this.#open.clear()
    this.#stretches.clear()
  }

  /** Of a project or a branch, as published last. */
  of(id: string): UsageCounters {
    const now = this.#now()
    const start = monthOf(now).start
    const end = Math.floor(now / PUBLISHED_EVERY_MS) * PUBLISHED_EVERY_MS
    const current = (this.#stretches.get(id) ?? []).filter(({ to }) => to === undefined || to > start)
    this.#stretches.set(id, current)
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

/** The consumption period: a calendar month in UTC. */
export const monthOf = (time: number): { readonly start: number; readonly end: number } => {
  const date = new Date(time)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) }
}
