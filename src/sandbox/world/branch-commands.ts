/** What a client can do to branches (facts of the public OpenAPI; the spec only names them). */
import { type ComputeRequest, newCompute } from './new-compute.ts'
import {
  checkActiveCount,
  checkBranchCount,
  checkProtectedCount,
  checkReplicaCount,
  checkSuspendTimeout,
} from './plan-limits.ts'
import type { BranchRecord, ComputeRecord, OperationRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { NewOperation, World } from './world.ts'

export interface BranchRequest {
  readonly name?: string | undefined
  readonly parent_id?: string | undefined
  readonly protected?: boolean | undefined
  /** When it is to be deleted; null takes that back. */
  readonly expires_at?: string | null | undefined
}

export interface BranchAnswer {
  readonly branch: BranchRecord
  readonly computes: readonly ComputeRecord[]
  readonly operations: readonly OperationRecord[]
}

/** Starts `create_branch`, and after it `start_compute` for each compute asked for (spec 2.1.1, 3.1). */
export const createBranch = (
  world: World,
  projectId: string,
  request: BranchRequest,
  endpoints: readonly (ComputeRequest & Pick<ComputeRecord, 'type'>)[],
): BranchAnswer => {
  const tables = world.project(projectId)
  const { branches, project } = tables
  world.checkUnlocked(projectId)
  const parent =
    request.parent_id === undefined
      ? [...branches.values()].find(({ isDefault }) => isDefault)
      : branches.get(request.parent_id)
  if (parent === undefined) throw new Refusal(404, 'branch not found')
  const id = world.newId('br')
  const name = request.name ?? id
  if ([...branches.values()].some((branch) => branch.name === name)) {
    throw new Refusal(409, `branch already exists; branch_name:"${name}"`)
  }
  if (endpoints.filter(({ type }) => type === 'read_write').length > 1) {
    throw new Refusal(422, 'read_write endpoint already exists', 'ENDPOINTS_LIMIT_EXCEEDED')
  }
  checkBranchCount(tables)
  if (request.protected === true) checkProtectedCount(tables)
  checkReplicaCount(tables, endpoints.filter(({ type }) => type === 'read_only').length)
  if (endpoints.length > 0) checkActiveCount(tables, id)
  for (const endpoint of endpoints) checkSuspendTimeout(project, endpoint.suspend_timeout_seconds)
  const now = world.clock.now()
  const branch: BranchRecord = {
    kind: 'branch',
    id,
    projectId,
    name,
    parentId: parent.id,
    isDefault: false,
    isProtected: request.protected ?? false,
    state: 'init',
    ...(request.expires_at === undefined || request.expires_at === null ? {} : { expiresAt: request.expires_at }),
    createdAt: now,
    updatedAt: now,
    ...inherited(parent),
  }
  const computes = endpoints.map((endpoint) => newCompute(world, project, id, endpoint))
  const operations = world.commit(
    projectId,
    [branch, ...computes],
    [
      ...unarchive(parent),
      { action: 'create_branch', branchId: id },
      ...computes.map((compute) => ({ action: 'start_compute', branchId: id, computeId: compute.id })),
    ],
  )
  return { branch, computes, operations }
}

/** Roles keep their passwords, since the data that holds them is the parent's. */
const inherited = ({ roles, databases, changes }: BranchRecord): Partial<BranchRecord> => ({
  ...(roles === undefined ? {} : { roles }),
  ...(databases === undefined ? {} : { databases }),
  ...(changes === undefined ? {} : { changes }),
})

/** Deletes a branch and its computes. `undefined` where there is no such branch: deleting is idempotent. */
export const deleteBranch = (
  world: World,
  projectId: string,
  id: string,
): Omit<BranchAnswer, 'computes'> | undefined => {
  const { branches, computes } = world.project(projectId)
  const branch = branches.get(id)
  if (branch === undefined) return undefined
  world.checkUnlocked(projectId)
  if (branch.isDefault) throw new Refusal(422, 'cannot delete the default branch of a project')
  if (branch.isProtected) throw new Refusal(422, 'cannot delete a protected branch')
  if ([...branches.values()].some(({ parentId }) => parentId === id)) {
    throw new Refusal(422, 'cannot delete a branch that has children')
  }
  const own = [...computes.values()].filter(({ branchId }) => branchId === id)
  const suspensions = own
    .filter(({ state }) => state !== 'idle')
    .map((compute) => ({ action: 'suspend_compute', branchId: id, computeId: compute.id }))
  const operations = world.commit(
    projectId,
    [],
    [...suspensions, { action: 'delete_timeline', branchId: id }],
    [...own, branch],
  )
  return { branch, operations }
}

/** Starts no operation (public OpenAPI). */
export const updateBranch = (
  world: World,
  projectId: string,
  id: string,
  { name, protected: isProtected, expires_at: expiry }: Omit<BranchRequest, 'parent_id'>,
): BranchRecord => {
  const tables = world.project(projectId)
  const before = findBranch(world, projectId, id)
  world.checkUnlocked(projectId)
  if (name === before.name) throw new Refusal(400, 'cannot set branch to the same name')
  if (name !== undefined && [...tables.branches.values()].some((branch) => branch.name === name)) {
    throw new Refusal(409, `branch already exists; branch_name:"${name}"`)
  }
  if (isProtected === true && !before.isProtected) checkProtectedCount(tables)
  const { expiresAt, ...rest } = before
  const kept = expiry === undefined ? expiresAt : (expiry ?? undefined)
  const branch: BranchRecord = {
    ...rest,
    ...(kept === undefined ? {} : { expiresAt: kept }),
    name: name ?? before.name,
    isProtected: isProtected ?? before.isProtected,
    updatedAt: world.clock.now(),
  }
  world.commit(projectId, [branch])
  return branch
}

/** A project has one default branch; another takes its place without an operation (public OpenAPI). */
export const setDefaultBranch = (world: World, projectId: string, id: string): BranchRecord => {
  const { branches } = world.project(projectId)
  const before = findBranch(world, projectId, id)
  world.checkUnlocked(projectId)
  const branch = { ...before, isDefault: true, updatedAt: world.clock.now() }
  const others = [...branches.values()].filter((other) => other.isDefault && other.id !== id)
  world.commit(projectId, [...others.map((other) => ({ ...other, isDefault: false })), branch])
  return branch
}

/** @throws {Refusal} 404. */
export const findBranch = (world: World, projectId: string, id: string): BranchRecord => {
  const branch = world.project(projectId).branches.get(id)
  if (branch === undefined) throw new Refusal(404, 'branch not found')
  return branch
}

/** What an archived branch needs before it can be used (spec 2.1.1). */
export const unarchive = (branch: BranchRecord | undefined): readonly NewOperation[] =>
  branch?.state === 'archived' ? [{ action: 'timeline_unarchive', branchId: branch.id }] : []
