/**
 * The background work of the control plane (docs/control-api.md). It checks that branches are available, archives
 * unused branches and detaches idle projects. Each project has one timer, however many branches it has.
 */
import { type BranchRecord, type ComputeRecord, type NewOperation, operationOn } from './records.ts'
import { computesOf, type ProjectTables } from './tables.ts'
import { Timers } from './timers.ts'
import type { World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How often a project is checked. Our choice: the service does not document it. */
export const ROUND_MS = 6 * HOUR_MS
/**
 * A branch is archived when it is 14 days old and has not been used for 24 hours (docs of the service, "Branch
 * archiving").
 */
const ARCHIVE_AGE_MS = 14 * DAY_MS
const ARCHIVE_QUIET_MS = DAY_MS
/** "Idle for an extended period" (docs/control-api.md). Our choice: the service does not document how long. */
const DETACH_QUIET_MS = 30 * DAY_MS
/** The delay before the next check if an operation is running. */
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
  let round = 0

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
    const isBusy = tables.unfinished.size > 0
    timers.set(projectId, now + (isBusy ? BUSY_MS : ROUND_MS), () => check(projectId))
    if (isBusy) return
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
      ...checkAvailability(tables),
      ...archived.map(({ id }): NewOperation => ({ action: 'timeline_archive', branchId: id })),
    ]
  }

  /** Checks one branch per round, in turn. Branches without a compute are not checked (docs/control-api.md). */
  const checkAvailability = ({ branches, computes }: ProjectTables): readonly NewOperation[] => {
    const checked = [...computes.values()].filter(({ branchId }) => branches.get(branchId)?.state === 'ready')
    const compute = checked[round % Math.max(1, checked.length)]
    round += 1
    return compute === undefined ? [] : [operationOn(compute, 'check_availability')]
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

const canArchive = (branch: BranchRecord, computes: readonly ComputeRecord[], now: number): boolean => {
  if (branch.isDefault || branch.isProtected || branch.state !== 'ready') return false
  if (now - branch.createdAt < ARCHIVE_AGE_MS || computes.some(({ state }) => state !== 'idle')) return false
  const lastUse = Math.max(branch.updatedAt, ...computes.map(({ suspendedAt, updatedAt }) => suspendedAt ?? updatedAt))
  return now - lastUse >= ARCHIVE_QUIET_MS
}
