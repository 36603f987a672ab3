/**
 * Replaces a branch's data with that of another branch or with its own earlier data. The branch keeps its id, computes
 * and host names (public OpenAPI; docs of the service, "Instant restore" and "Reset from parent").
 */
import { checkName, inherited, renewExpiry } from './branch-commands.ts'
import { checkCount } from './limits.ts'
import { momentOf } from './moment.ts'
import { type BranchRecord, isRunning, type OperationRecord, operationOn, unarchive } from './records.ts'
import { ApiError, type RestoreRequest } from './requests.ts'
import { computesOf } from './tables.ts'
import type { World } from './world.ts'

/** Starts `suspend_compute` for each running compute, `create_branch`, and `start_compute` for the same computes. */
export const restoreBranch = (
  world: World,
  projectId: string,
  id: string,
  request: RestoreRequest,
): { readonly branch: BranchRecord; readonly operations: readonly OperationRecord[] } => {
  const tables = world.project(projectId)
  const before = world.branch(projectId, id)
  const source = world.branch(projectId, request.source_branch_id)
  world.checkUnlocked(projectId)
  if (before.isProtected) throw new ApiError(422, 'cannot restore a protected branch')
  const preserveAs = request.preserve_under_name || undefined
  const children = [...tables.branches.values()].filter(({ parentId }) => parentId === id)
  checkRequest(request, id, children.length > 0)
  const time = momentOf(world, source, { timestamp: request.source_timestamp, lsn: request.source_lsn }, 'source')
  const now = world.clock.now()
  const backup = preserveAs === undefined ? undefined : newBackup(world, before, preserveAs)
  const branch: BranchRecord = {
    ...before,
    ...inherited(source, time),
    ...(before.parentId === undefined ? {} : { parentId: backup?.id ?? source.id, parentTime: time }),
    ...renewExpiry(before, now),
    state: 'resetting',
    stateChangedAt: now,
    lastResetAt: now,
    updatedAt: now,
  }
  const running = computesOf(tables, id).filter(isRunning)
  const operations = world.commit(
    projectId,
    [
      branch,
      ...(backup === undefined ? [] : [backup, ...children.map((child) => ({ ...child, parentId: backup.id }))]),
      ...running.map((compute) => ({ ...compute, pendingState: 'active' as const, updatedAt: now })),
    ],
    [
      ...unarchive(source),
      ...running.map((compute) => operationOn(compute, 'suspend_compute')),
      {
        action: 'create_branch',
        branchId: id,
        restore: { from: source.id, preserveAs: backup?.id },
      },
      ...running.map((compute) => operationOn(compute, 'start_compute')),
    ],
  )
  return { branch, operations }
}

/** @throws {ApiError} 400 if a required field is missing. */
const checkRequest = (request: RestoreRequest, id: string, hasChildren: boolean): void => {
  const isOwn = request.source_branch_id === id
  const namesMoment = request.source_timestamp !== undefined || request.source_lsn !== undefined
  if (isOwn && !namesMoment) {
    throw new ApiError(400, 'source_timestamp or source_lsn is required to restore a branch from its own history')
  }
  if (!request.preserve_under_name && (isOwn || hasChildren)) {
    const why = isOwn ? 'to restore a branch from its own history' : 'because the branch has children'
    throw new ApiError(400, `preserve_under_name is required ${why}`)
  }
}

/**
 * The branch that receives the old data. It becomes the parent of the restored branch, unless that is a root branch.
 */
const newBackup = (world: World, before: BranchRecord, name: string): BranchRecord => {
  const tables = world.project(before.projectId)
  checkName(tables, name)
  checkCount(tables, 'branches')
  if (before.parentId === undefined) checkCount(tables, 'root branches')
  const now = world.clock.now()
  return {
    ...before,
    id: world.newId('br'),
    expiresAt: undefined,
    ttlSeconds: undefined,
    name,
    isDefault: false,
    isProtected: false,
    state: 'init',
    stateChangedAt: now,
    createdAt: now,
    updatedAt: now,
  }
}
