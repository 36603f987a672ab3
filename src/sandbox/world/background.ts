/**
 * What the control plane does by itself (docs/control-api.md): checks that branches are available, archives branches that nobody
 * uses, detaches projects that nobody asks for. One timer a project, however many branches it has.
 */
import type { BranchRecord, ComputeRecord } from './records.ts'
import type { ProjectTables } from './tables.ts'
import type { NewOperation, World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How often a project is checked; no source says. */
export const ROUND_MS = 6 * HOUR_MS
/** Branches archive 14 days after they were made, when they were not used for 24 hours (docs, "Branch archiving"). */
const ARCHIVE_AGE_MS = 14 * DAY_MS
const ARCHIVE_QUIET_MS = DAY_MS
/** "Idle for an extended period" (docs/control-api.md); no source says how long. */
const DETACH_QUIET_MS = 30 * DAY_MS
/** How soon to check again while an operation runs. */
const BUSY_MS = 60_000

export class Background {
  readonly #world: World
  /** When a request last asked for a project. */
  readonly #asked = new Map<string, number>()
  readonly #timers = new Map<string, () => void>()
  #round = 0

  /** @param isOn whether it does anything but take a detached project back. */
  constructor(world: World, isOn: boolean) {
    this.#world = world
    if (!isOn) return
    world.watch({
      project: ({ id, deletedAt }) => {
        if (deletedAt === undefined && !this.#timers.has(id)) this.#begin(id)
      },
      emptied: () => this.#timers.clear(),
    })
  }

  #begin(projectId: string): void {
    this.#asked.set(projectId, this.#world.clock.now())
    // Spread, so that not all projects are busy at one moment; and never soon after the start.
    const place = [...projectId].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000, 7) / 1_000
    this.#set(projectId, this.#world.clock.now() + ROUND_MS * (1 + place))
  }

  /** A request is about this project. One that was detached comes back. */
  asked(tables: ProjectTables): void {
    const { project, branches, unfinished } = tables
    this.#asked.set(project.id, this.#world.clock.now())
    if (project.isDetached !== true || project.deletedAt !== undefined || unfinished.size > 0) return
    const [root] = branches.values()
    if (root !== undefined) this.#world.commit(project.id, [], [{ action: 'tenant_reattach', branchId: root.id }])
  }

  #set(projectId: string, time: number): void {
    this.#timers.get(projectId)?.()
    this.#timers.set(
      projectId,
      this.#world.at(time, () => this.#check(projectId)),
    )
  }

  #check(projectId: string): void {
    const tables = this.#world.tables.projects.get(projectId)
    if (tables === undefined || tables.project.deletedAt !== undefined) {
      this.#timers.delete(projectId)
      return
    }
    const now = this.#world.clock.now()
    const isBusy = tables.unfinished.size > 0
    this.#set(projectId, now + (isBusy ? BUSY_MS : ROUND_MS))
    if (isBusy) return
    const operations = this.#operations(tables, now)
    if (operations.length > 0) this.#world.commit(projectId, [], operations)
  }

  #operations(tables: ProjectTables, now: number): readonly NewOperation[] {
    const { project, branches, computes } = tables
    if (project.isDetached === true) return []
    const [root] = branches.values()
    const isIdle = [...computes.values()].every(({ state }) => state === 'idle')
    if (isIdle && root !== undefined && now - (this.#asked.get(project.id) ?? now) >= DETACH_QUIET_MS) {
      return [{ action: 'tenant_detach', branchId: root.id }]
    }
    const archived = [...branches.values()].filter((branch) => canArchive(branch, computesOf(tables, branch), now))
    return [
      ...this.#checkAvailability(tables),
      ...archived.map(({ id }): NewOperation => ({ action: 'timeline_archive', branchId: id })),
    ]
  }

  /** One branch a round, each in its turn; a branch without a compute is not checked (docs/control-api.md). */
  #checkAvailability({ branches, computes }: ProjectTables): readonly NewOperation[] {
    const checked = [...computes.values()].filter(({ branchId }) => branches.get(branchId)?.state === 'ready')
    const compute = checked[this.#round % Math.max(1, checked.length)]
    this.#round += 1
    if (compute === undefined) return []
    return [{ action: 'check_availability', branchId: compute.branchId, computeId: compute.id }]
  }
}

const computesOf = ({ computes }: ProjectTables, { id }: BranchRecord): readonly ComputeRecord[] =>
  [...computes.values()].filter(({ branchId }) => branchId === id)

const canArchive = (branch: BranchRecord, computes: readonly ComputeRecord[], now: number): boolean => {
  if (branch.isDefault || branch.isProtected || branch.state !== 'ready') return false
  if (now - branch.createdAt < ARCHIVE_AGE_MS || computes.some(({ state }) => state !== 'idle')) return false
  const lastUse = Math.max(branch.updatedAt, ...computes.map(({ suspendedAt, updatedAt }) => suspendedAt ?? updatedAt))
  return now - lastUse >= ARCHIVE_QUIET_MS
}
