/**
 * A branch gets the data of another branch, or its own of earlier; id, computes and hosts stay (public OpenAPI and docs,
 * "Instant restore" and "Reset from parent").
 */
import { checkName, findBranch, inherited, unarchive } from './branch-commands.ts'
import { renewExpiry } from './expiry.ts'
import { momentOf } from './moment.ts'
import { checkBranchCount, checkRootCount } from './plan-limits.ts'
import type { BranchRecord, ComputeRecord, OperationRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

export interface RestoreRequest {
  readonly source_branch_id: string
  readonly source_timestamp?: string | undefined
  readonly source_lsn?: string | undefined
  readonly preserve_under_name?: string | undefined
}

/**
 * Starts `suspend_compute` for each compute that is not idle, `create_branch`, and `start_compute` for those that were
 * active.
 */
export const restoreBranch = (
  world: World,
  projectId: string,
  id: string,
  request: RestoreRequest,
): { readonly branch: BranchRecord; readonly operations: readonly OperationRecord[] } => {
  const tables = world.project(projectId)
  const before = findBranch(world, projectId, id)
  const source = findBranch(world, projectId, request.source_branch_id)
  world.checkUnlocked(projectId)
  if (before.isProtected) throw new Refusal(422, 'cannot restore a protected branch')
  const preserveAs = request.preserve_under_name || undefined
  const children = [...tables.branches.values()].filter(({ parentId }) => parentId === id)
  checkRequest(request, id, children.length > 0)
  const time = momentOf(world, source, { timestamp: request.source_timestamp, lsn: request.source_lsn }, 'source')
  const now = world.clock.now()
  const backup = preserveAs === undefined ? undefined : newBackup(world, before, preserveAs)
  const { roles, databases, changes, ...rest } = before
  const branch: BranchRecord = {
    ...rest,
    ...inherited(source, time),
    ...(before.parentId === undefined ? {} : { parentId: backup?.id ?? source.id, parentTime: time }),
    ...renewExpiry(before, now),
    state: 'resetting',
    stateChangedAt: now,
    lastResetAt: now,
    updatedAt: now,
  }
  const own = [...tables.computes.values()].filter(({ branchId }) => branchId === id)
  const running = own.filter(({ state }) => state !== 'idle')
  const on = (action: string) => (compute: ComputeRecord) => ({ action, branchId: id, computeId: compute.id })
  const operations = world.commit(
    projectId,
    [
      branch,
      ...(backup === undefined ? [] : [backup, ...children.map((child) => ({ ...child, parentId: backup.id }))]),
      ...running.map((compute) => ({ ...compute, pendingState: 'active' as const, updatedAt: now })),
    ],
    [
      ...unarchive(source),
      ...running.map(on('suspend_compute')),
      {
        action: 'create_branch',
        branchId: id,
        restore: { from: source.id, ...(backup === undefined ? {} : { preserveAs: backup.id }) },
      },
      ...running.map(on('start_compute')),
    ],
  )
  return { branch, operations }
}

/** @throws {Refusal} 400 if the request lacks what its case needs. */
const checkRequest = (request: RestoreRequest, id: string, hasChildren: boolean): void => {
  const isOwn = request.source_branch_id === id
  const namesMoment = request.source_timestamp !== undefined || request.source_lsn !== undefined
  if (isOwn && !namesMoment) {
    throw new Refusal(400, 'source_timestamp or source_lsn is required to restore a branch from its own history')
  }
  if (!request.preserve_under_name && (isOwn || hasChildren)) {
    const why = isOwn ? 'to restore a branch from its own history' : 'since the branch has children'
    throw new Refusal(400, `preserve_under_name is required ${why}`)
  }
}

/** What the branch was until now. Of a branch with a parent it is between the two; a root's is a root. */
const newBackup = (world: World, before: BranchRecord, name: string): BranchRecord => {
  const tables = world.project(before.projectId)
  checkName(tables, name)
  checkBranchCount(tables)
  if (before.parentId === undefined) checkRootCount(tables)
  const { expiresAt, ttlSeconds, ...rest } = before
  const now = world.clock.now()
  return {
    ...rest,
    id: world.newId('br'),
    name,
    isDefault: false,
    isProtected: false,
    state: 'init',
    stateChangedAt: now,
    createdAt: now,
    updatedAt: now,
  }
}
