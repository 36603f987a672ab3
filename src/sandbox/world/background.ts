/**
 * What the control plane does on its own (docs/control-api.md): it checks that branches are available, archives unused
 * branches and detaches idle projects. One timer per project, however many branches it has.
 */
import { type NewOperation, operationOn } from './new-operation.ts'
import type { BranchRecord, ComputeRecord } from './records.ts'
import { computesOf, type ProjectTables } from './tables.ts'
import { Timers } from './timers.ts'
import type { World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How often a project is checked. Our choice: the service does not document it. */
export const ROUND_MS = 6 * HOUR_MS
/** A branch is archived once it is 14 days old and unused for 24 hours (docs of the service, "Branch archiving"). */
const ARCHIVE_AGE_MS = 14 * DAY_MS
const ARCHIVE_QUIET_MS = DAY_MS
/** "Idle for an extended period" (docs/control-api.md). Our choice: the service does not document how long. */
const DETACH_QUIET_MS = 30 * DAY_MS
/** Delay before the next check while an operation runs. */
const BUSY_MS = 60_000

export class Background {
  readonly #world: World
  readonly #lastRequests = new Map<string, number>()
  readonly #timers: Timers
  #round = 0

  /** @param isOn if false, only reattaches detached projects. */
  constructor(world: World, isOn: boolean) {
    this.#world = world
    this.#timers = new Timers(world)
    if (!isOn) return
    world.watch({
      project: ({ id, deletedAt }) => {
        if (deletedAt === undefined && !this.#timers.has(id)) this.#begin(id)
      },
    })
  }

  #begin(projectId: string): void {
    const now = this.#world.clock.now()
    this.#lastRequests.set(projectId, now)
    // Spread the projects over the round. The first check comes no sooner than a full round after the start.
    const offset = [...projectId].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000, 7) / 1_000
    this.#timers.set(projectId, now + ROUND_MS * (1 + offset), () => this.#check(projectId))
  }

  /** Call for each request about a project: a detached one is attached again. */
  noteRequest({ project, branches, unfinished }: ProjectTables): void {
    this.#lastRequests.set(project.id, this.#world.clock.now())
    if (project.isDetached !== true || project.deletedAt !== undefined || unfinished.size > 0) return
    const [root] = branches.values()
    if (root !== undefined) this.#world.commit(project.id, [], [{ action: 'tenant_reattach', branchId: root.id }])
  }

  #check(projectId: string): void {
    const tables = this.#world.tables.projects.get(projectId)
    if (tables === undefined || tables.project.deletedAt !== undefined) return
    const now = this.#world.clock.now()
    const isBusy = tables.unfinished.size > 0
    this.#timers.set(projectId, now + (isBusy ? BUSY_MS : ROUND_MS), () => this.#check(projectId))
    if (isBusy) return
    const operations = this.#operations(tables, now)
    if (operations.length > 0) this.#world.commit(projectId, [], operations)
  }

  #operations(tables: ProjectTables, now: number): readonly NewOperation[] {
    const { project, branches, computes } = tables
    if (project.isDetached === true) return []
    const [root] = branches.values()
    const isIdle = [...computes.values()].every(({ state }) => state === 'idle')
    if (isIdle && root !== undefined && now - (this.#lastRequests.get(project.id) ?? now) >= DETACH_QUIET_MS) {
      return [{ action: 'tenant_detach', branchId: root.id }]
    }
    const archived = [...branches.values()].filter((branch) => canArchive(branch, computesOf(tables, branch.id), now))
    return [
      ...this.#checkAvailability(tables),
      ...archived.map(({ id }): NewOperation => ({ action: 'timeline_archive', branchId: id })),
    ]
  }

  /** Checks one branch per round, in turn. A branch without a compute is not checked (docs/control-api.md). */
  #checkAvailability({ branches, computes }: ProjectTables): readonly NewOperation[] {
    const checked = [...computes.values()].filter(({ branchId }) => branches.get(branchId)?.state === 'ready')
    const compute = checked[this.#round % Math.max(1, checked.length)]
    this.#round += 1
    return compute === undefined ? [] : [operationOn(compute, 'check_availability')]
  }
}

const canArchive = (branch: BranchRecord, computes: readonly ComputeRecord[], now: number): boolean => {
  if (branch.isDefault || branch.isProtected || branch.state !== 'ready') return false
  if (now - branch.createdAt < ARCHIVE_AGE_MS || computes.some(({ state }) => state !== 'idle')) return false
  const lastUse = Math.max(branch.updatedAt, ...computes.map(({ suspendedAt, updatedAt }) => suspendedAt ?? updatedAt))
  return now - lastUse >= ARCHIVE_QUIET_MS
}
