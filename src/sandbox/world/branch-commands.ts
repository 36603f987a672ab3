/** Commands on branches (public OpenAPI). */
import { newCompute } from './compute-commands.ts'
import { checkActiveCount, checkCount, checkSuspendTimeout } from './limits.ts'
import { momentOf } from './moment.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  isRunning,
  type OperationRecord,
  operationOn,
  unarchive,
} from './records.ts'
import {
  ApiError,
  type BranchRequest,
  type BranchUpdate,
  type NewComputeRequest,
  type RestoreRequest,
} from './requests.ts'
import { computesOf, defaultBranch, type ProjectTables } from './tables.ts'
import type { World } from './world.ts'

interface BranchAnswer {
  readonly branch: BranchRecord
  readonly computes: readonly ComputeRecord[]
  readonly operations: readonly OperationRecord[]
}

type Annotation = Readonly<Record<string, string>>

const NO_CHILDREN = 'a branch that expires cannot have children'

/** Starts `create_branch`, then `start_compute` for each requested compute (docs/reference/control-api.md). */
export const createBranch = (
  world: World,
  projectId: string,
  request: BranchRequest,
  endpoints: readonly NewComputeRequest[],
  annotation?: Annotation,
): BranchAnswer => {
  const tables = world.project(projectId)
  const { project } = tables
  world.checkUnlocked(projectId)
  const parent = parentOf(tables, request.parent_id)
  const time = momentOf(world, parent, { timestamp: request.parent_timestamp, lsn: request.parent_lsn }, 'parent')
  const isRoot = request.init_source === 'schema-only'
  const id = world.newId('br')
  const name = request.name ?? id
  checkName(tables, name)
  checkAllowances(tables, id, request, endpoints, isRoot)
  if (!isRoot && parent.expiresAt !== undefined) throw new ApiError(422, NO_CHILDREN)
  if (request.archived === true && endpoints.length > 0) {
    throw new ApiError(422, 'a branch that is created as archived cannot have computes')
  }
  const now = world.clock.now()
  const branch: BranchRecord = {
    kind: 'branch',
    id,
    projectId,
    name,
    ...(isRoot ? { schemaOf: parent.id } : { parentId: parent.id, parentTime: time }),
    isDefault: false,
    isProtected: request.protected ?? false,
    state: 'init',
    ...expiryAt(request.expires_at, now),
    annotation: annotationOf(annotation, now),
    createdAt: now,
    updatedAt: now,
    ...inherited(parent, time),
  }
  checkExpiry(branch, tables)
  const computes = endpoints.map((endpoint) => newCompute(world, project, id, endpoint))
  const operations = world.commit(
    projectId,
    [branch, ...computes],
    [
      ...unarchive(parent),
      { action: 'create_branch', branchId: id },
      ...(request.archived === true ? [{ action: 'timeline_archive', branchId: id }] : []),
      ...computes.map((compute) => operationOn(compute, 'start_compute')),
    ],
  )
  return { branch, computes, operations }
}

/**
 * The roles and databases that a branch copies from its source. Passwords stay the same, because they are part of the
 * data.
 *
 * @param time the point in the source's history, in milliseconds. Roles and databases that were created later are left
 *   out. Roles and databases that were dropped later are missing too, because the source's record no longer lists them.
 */
const inherited = (
  { roles, databases, changes }: BranchRecord,
  time: number,
): Pick<BranchRecord, 'roles' | 'databases' | 'changes'> => ({
  roles: roles?.filter(({ createdAt }) => createdAt <= time),
  databases: databases?.filter(({ createdAt }) => createdAt <= time),
  changes,
})

/** If no id is given, the parent is the default branch. @throws {ApiError} 404. */
const parentOf = ({ branches }: ProjectTables, id: string | undefined): BranchRecord => {
  const parent = id === undefined || id === '' ? defaultBranch(branches) : branches.get(id)
  if (parent === undefined) throw new ApiError(404, 'branch not found')
  return parent
}

/** @throws {ApiError} 409. */
const checkName = ({ branches }: ProjectTables, name: string): void => {
  if ([...branches.values()].some((branch) => branch.name === name)) {
    throw new ApiError(409, `branch already exists; branch_name:"${name}"`)
  }
}

/** @throws {ApiError} 422 if the branch or its computes exceed a limit of the service or of the account's plan. */
const checkAllowances = (
  tables: ProjectTables,
  id: string,
  request: BranchRequest,
  endpoints: readonly NewComputeRequest[],
  isRoot: boolean,
): void => {
  if (endpoints.filter(({ type }) => type === 'read_write').length > 1) {
    throw new ApiError(422, 'read_write endpoint already exists', 'ENDPOINTS_LIMIT_EXCEEDED')
  }
  checkCount(tables, 'branches')
  if (isRoot) checkCount(tables, 'root branches')
  if (request.protected === true) checkCount(tables, 'protected branches')
  checkCount(tables, 'read replicas', endpoints.filter(({ type }) => type === 'read_only').length)
  if (endpoints.length > 0) checkActiveCount(tables, id, endpoints.length)
  for (const endpoint of endpoints) checkSuspendTimeout(tables.project, endpoint.suspend_timeout_seconds)
}

/** Returns `undefined` for an annotation without properties. */
export const annotationOf = (value: Annotation = {}, now: number): BranchRecord['annotation'] =>
  Object.keys(value).length === 0 ? undefined : { value, createdAt: now, updatedAt: now }

/**
 * Deletes a branch and its computes. Returns `undefined` if the branch does not exist, because deleting is idempotent.
 */
export const deleteBranch = (
  world: World,
  projectId: string,
  id: string,
): Omit<BranchAnswer, 'computes'> | undefined => {
  const tables = world.project(projectId)
  const { branches } = tables
  const branch = branches.get(id)
  if (branch === undefined) return undefined
  world.checkUnlocked(projectId)
  if (branch.isDefault) throw new ApiError(422, 'cannot delete the default branch of a project')
  if (branch.isProtected) throw new ApiError(422, 'cannot delete a protected branch')
  if ([...branches.values()].some(({ parentId }) => parentId === id)) {
    throw new ApiError(422, 'cannot delete a branch that has children')
  }
  const own = computesOf(tables, id)
  const suspensions = own.filter(isRunning).map((compute) => operationOn(compute, 'suspend_compute'))
  const operations = world.commit(
    projectId,
    [],
    [...suspensions, { action: 'delete_timeline', branchId: id }],
    [...own, branch],
  )
  return { branch, operations }
}

/** Starts no operation (public OpenAPI). An `expires_at` of null removes the expiration. */
export const updateBranch = (
  world: World,
  projectId: string,
  id: string,
  { name, protected: isProtected, expires_at: expiry }: BranchUpdate,
): BranchRecord => {
  const tables = world.project(projectId)
  const before = world.branch(projectId, id)
  world.checkUnlocked(projectId)
  if (name === before.name) throw new ApiError(400, 'cannot set branch to the same name')
  if (name !== undefined) checkName(tables, name)
  if (isProtected === true && !before.isProtected) checkCount(tables, 'protected branches')
  const now = world.clock.now()
  const branch: BranchRecord = {
    ...before,
    ...(expiry === undefined ? {} : expiryAt(expiry, now)),
    name: name ?? before.name,
    isProtected: isProtected ?? before.isProtected,
    updatedAt: now,
  }
  checkExpiry(branch, tables)
  world.commit(projectId, [branch])
  return branch
}

/** Replaces the project's default branch. Starts no operation (public OpenAPI). */
export const setDefaultBranch = (world: World, projectId: string, id: string): BranchRecord => {
  const { branches } = world.project(projectId)
  const before = world.branch(projectId, id)
  world.checkUnlocked(projectId)
  const branch = { ...before, isDefault: true, updatedAt: world.clock.now() }
  checkExpiry(branch, { branches })
  const others = [...branches.values()].filter((other) => other.isDefault && other.id !== id)
  world.commit(projectId, [...others.map((other) => ({ ...other, isDefault: false })), branch])
  return branch
}

// The expiration of branches (docs of the service, "Branch expiration").

const LONGEST_DAYS = 30
const DAY_MS = 86_400_000

type Expiry = Pick<BranchRecord, 'expiresAt' | 'ttlSeconds'>

/**
 * The expiration that a request sets. If `text` is null or absent, there is none. The time is rounded down to the
 * second, as on the service.
 *
 * @throws {ApiError} 400 if the time is not within the next 30 days.
 */
const expiryAt = (text: string | null | undefined, now: number): Expiry => {
  if (text === null || text === undefined) return { expiresAt: undefined, ttlSeconds: undefined }
  const time = Math.floor(Date.parse(text) / 1_000) * 1_000
  if (!(time > now)) throw new ApiError(400, 'branch.expires_at: must be in the future')
  if (time > now + LONGEST_DAYS * DAY_MS) {
    throw new ApiError(400, `branch.expires_at: must be within the next ${LONGEST_DAYS} days`)
  }
  return expiry(time, Math.round((time - now) / 1_000))
}

/** A reset restarts the expiration period. */
const renewExpiry = ({ ttlSeconds }: BranchRecord, now: number): Expiry =>
  ttlSeconds === undefined ? {} : expiry(now + ttlSeconds * 1_000, ttlSeconds)

const expiry = (time: number, ttlSeconds: number): Expiry => ({
  expiresAt: `${new Date(time).toISOString().slice(0, 19)}Z`,
  ttlSeconds,
})

/** @throws {ApiError} 422 if the branch expires although it is protected, is the default branch or has children. */
const checkExpiry = (branch: BranchRecord, { branches }: Pick<ProjectTables, 'branches'>): void => {
  if (branch.expiresAt === undefined) return
  const reject = (what: string): never => {
    throw new ApiError(422, `${what} cannot expire: remove its expiration (expires_at: null) first`)
  }
  if (branch.isProtected) reject('a protected branch')
  if (branch.isDefault) reject('the default branch')
  if ([...branches.values()].some(({ parentId }) => parentId === branch.id)) reject('a branch that has children')
}

// Replaces a branch's data with that of another branch or with its own earlier data. The branch keeps its id, computes
// and host names (public OpenAPI; docs of the service, "Instant restore" and "Reset from parent").

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
  const isChild = before.parentId !== undefined && preserveAs === undefined
  if (isChild && source.expiresAt !== undefined) throw new ApiError(422, NO_CHILDREN)
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
