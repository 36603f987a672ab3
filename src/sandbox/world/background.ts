/**
 * What the control plane does by itself at certain times (docs/reference/control-api.md). It checks that branches are available,
 * archives unused branches, detaches idle projects, suspends unused computes, and deletes what has expired.
 */
import { sleepSeconds } from '../../model/index.ts'
import type { Activity } from '../computes/computes.ts'
import { deleteBranch } from './branch-commands.ts'
import { purgeProject } from './project-commands.ts'
import { type BranchRecord, type ComputeRecord, type NewOperation, operationOn } from './records.ts'
import { ApiError } from './requests.ts'
import { computesOf, type ProjectTables } from './tables.ts'
import type { World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How often a project is checked. Our choice: the service does not document it. */
const ROUND_MS = 6 * HOUR_MS
/**
 * A branch is archived when it is 14 days old and has not been used for 24 hours (docs of the service, "Branch
 * archiving").
 */
const ARCHIVE_AGE_MS = 14 * DAY_MS
const ARCHIVE_QUIET_MS = DAY_MS
/** "Idle for an extended period" (docs/reference/control-api.md). Our choice: the service does not document how long. */
const DETACH_QUIET_MS = 30 * DAY_MS
/** The delay before the next attempt if an operation is running. */
const BUSY_MS = 60_000

/**
 * Returns a function that must be called for each request about a project. The function records the time of the
 * request, and reattaches the project if it is detached.
 *
 * @param isOn if false, the only background work is that detached projects are reattached.
 */
export const startBackground = (world: World, isOn: boolean): ((tables: ProjectTables) => void) => {
  const lastRequests = new Map<string, number>()
  const timers = new Timers(world)

  const begin = (projectId: string): void => {
    const now = world.clock.now()
    lastRequests.set(projectId, now)
    // Spread the checks of the projects over the round. The first check takes place at least one full round after the
    // start.
    const offset = [...projectId].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000, 7) / 1_000
    timers.set(projectId, now + ROUND_MS * (1 + offset), () => check(projectId))
  }

  const check = (projectId: string): void => {
    const tables = world.tables.projects.get(projectId)
    if (tables === undefined || tables.project.deletedAt !== undefined) return
    const now = world.clock.now()
    const busy = isBusy(tables)
    timers.set(projectId, now + (busy ? BUSY_MS : ROUND_MS), () => check(projectId))
    if (busy) return
    const operations = dueOperations(tables, now)
    if (operations.length > 0) world.commit(projectId, [], operations)
  }

  const dueOperations = (tables: ProjectTables, now: number): readonly NewOperation[] => {
    const { project, branches, computes } = tables
    if (project.isDetached === true) return []
    const [root] = branches.values()
    const isIdle = [...computes.values()].every(({ state }) => state === 'idle')
    if (isIdle && root !== undefined && now - (lastRequests.get(project.id) ?? now) >= DETACH_QUIET_MS) {
      return [{ action: 'tenant_detach', branchId: root.id }]
    }
    const archived = [...branches.values()].filter((branch) => canArchive(branch, computesOf(tables, branch.id), now))
    return [
      ...checkAvailability(tables, Math.floor(now / ROUND_MS)),
      ...archived.map(({ id }): NewOperation => ({ action: 'timeline_archive', branchId: id })),
    ]
  }

  if (isOn) {
    world.watch({
      project: ({ id, deletedAt }) => {
        if (deletedAt === undefined && !timers.has(id)) begin(id)
      },
    })
  }
  return ({ project, branches, unfinished }) => {
    lastRequests.set(project.id, world.clock.now())
    if (project.isDetached !== true || project.deletedAt !== undefined || unfinished.size > 0) return
    const [root] = branches.values()
    if (root !== undefined) world.commit(project.id, [], [{ action: 'tenant_reattach', branchId: root.id }])
  }
}

/** Checks one branch per round, in turn. Branches without a compute are not checked (docs/reference/control-api.md). */
const checkAvailability = (tables: ProjectTables, round: number): readonly NewOperation[] => {
  const { branches, computes, unfinished } = tables
  if (unfinished.size > 0) return []
  const checked = [...computes.values()].filter(({ branchId }) => branches.get(branchId)?.state === 'ready')
  const compute = checked[round % checked.length]
  return compute === undefined ? [] : [operationOn(compute, 'check_availability')]
}

/** A check takes real time. Background work must not wait for it when the clock jumps. */
const isBusy = (tables: ProjectTables | undefined): boolean =>
  [...(tables?.unfinished.values() ?? [])].some(({ action }) => action !== 'check_availability')

const canArchive = (branch: BranchRecord, computes: readonly ComputeRecord[], now: number): boolean => {
  if (branch.isDefault || branch.isProtected || branch.state !== 'ready') return false
  if (now - branch.createdAt < ARCHIVE_AGE_MS || computes.some(({ state }) => state !== 'idle')) return false
  const lastUse = Math.max(branch.updatedAt, ...computes.map(({ suspendedAt, updatedAt }) => suspendedAt ?? updatedAt))
  return now - lastUse >= ARCHIVE_QUIET_MS
}

// Suspends computes that have not been used for their scale-to-zero time (docs/reference/control-api.md), on the sandbox's clock.

/** The delay before the next check if an operation is running. It is short, because users wait for this. */
const SOON_MS = 1_000

/** @param activityOf returns the activity of a compute's clients, or `undefined` if the backend cannot tell. */
export const scaleToZero = (world: World, activityOf: (computeId: string) => Promise<Activity> | undefined): void => {
  const timers = new Timers(world)
  /** When each compute was last suspended. If that failed, it must be unused for the same time again. */
  const attempts = new Map<string, number>()

  const watch = (compute: ComputeRecord): void => {
    const { id, lastActive = 0 } = compute
    const due = dueTime(compute)
    const attempt = attempts.get(id) ?? 0
    checkAt(id, due === undefined || attempt < due ? due : attempt + due - lastActive)
  }

  const checkAt = (id: string, time: number | undefined): void => timers.set(id, time, () => check(id))

  const check = (id: string): void => {
    const compute = world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const activity = activityOf(id)
    if (activity === undefined) suspend(compute)
    // If the compute does not respond, it is stopping or busy, so check again later.
    const retry = (): void => checkAt(id, world.clock.now() + SOON_MS)
    void activity?.then((seen) => judge(id, seen), retry)
  }

  /** Suspends the compute or, if it was used in the meantime, waits until its timeout has passed since its last use. */
  const judge = (id: string, { busy, lastUse: moment }: Activity): void => {
    const compute = world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const now = world.clock.now()
    const lastUse = busy ? now : world.clock.when(moment)
    const isUsed = lastUse > (compute.lastActive ?? 0)
    const used = isUsed ? { ...compute, lastActive: lastUse } : compute
    if (!isUsed || (dueTime(used) ?? 0) <= now) suspend(used)
    else world.commit(compute.projectId, [used])
  }

  const suspend = (compute: ComputeRecord): void => {
    const { id, projectId } = compute
    const now = world.clock.now()
    const busy = isBusy(world.tables.projects.get(projectId))
    if ((dueTime(compute) ?? now) > now) watch(compute)
    else if (busy) checkAt(id, now + SOON_MS)
    else {
      attempts.set(id, now)
      const suspended: ComputeRecord = { ...compute, pendingState: 'idle', updatedAt: now }
      world.commit(projectId, [suspended], [operationOn(compute, 'suspend_compute')])
    }
  }

  const forget = ({ id }: ComputeRecord): void => {
    attempts.delete(id)
    checkAt(id, undefined)
  }

  world.watch({ compute: watch, computeDeleted: forget })
}

const dueTime = (compute: ComputeRecord): number | undefined => {
  const { state, pendingState, suspendTimeoutSeconds, lastActive } = compute
  if (state !== 'active' || pendingState !== undefined || lastActive === undefined) return undefined
  const seconds = sleepSeconds({ size: compute, scaleToZero: suspendTimeoutSeconds }) ?? Number.POSITIVE_INFINITY
  return Number.isFinite(seconds) ? lastActive + seconds * 1_000 : undefined
}

// Runs work that is due at a set time: when a branch expires, or when a deleted project can no longer be recovered.

/** The delay before the next attempt after any other error. */
const REJECTED_MS = 3_600_000

export const enforceDeadlines = (world: World): void => {
  const timers = new Timers(world)
  const expire = ({ id, projectId }: BranchRecord): void => {
    const branch = world.tables.projects.get(projectId)?.branches.get(id)
    if (branch === undefined) return
    try {
      deleteBranch(world, projectId, id)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const wait = error.status === 423 ? BUSY_MS : REJECTED_MS
      timers.set(id, world.clock.now() + wait, () => expire(branch))
    }
  }
  const purge = (id: string): void => {
    if (!purgeProject(world, id)) timers.set(id, world.clock.now() + BUSY_MS, () => purge(id))
  }
  world.watch({
    branch: (branch) => {
      const { id, expiresAt } = branch
      timers.set(id, expiresAt === undefined ? undefined : Date.parse(expiresAt), () => expire(branch))
    },
    project: ({ id, recoverableUntil }) => timers.set(id, recoverableUntil, () => purge(id)),
  })
}

/** Timers on the world's clock. Each id has at most one timer. */
export class Timers {
  readonly #world: World
  readonly #cancels = new Map<string, () => void>()

  constructor(world: World) {
    this.#world = world
    world.watch({ emptied: () => this.#cancels.clear() })
  }

  has(id: string): boolean {
    return this.#cancels.has(id)
  }

  /** Replaces the timer of an id, or removes it if no time is given. */
  set(id: string, time: number | undefined, task: () => void): void {
    this.#cancels.get(id)?.()
    this.#cancels.delete(id)
    if (time === undefined) return
    const ring = (): void => {
      this.#cancels.delete(id)
      task()
    }
    this.#cancels.set(id, this.#world.at(time, ring))
  }
}
