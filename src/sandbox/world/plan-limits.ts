/** What the plan of an account allows (docs of the service, "Plans" and "Limits"). */
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { ProjectTables } from './tables.ts'

const UNLIMITED = Number.POSITIVE_INFINITY
const LIMITS = {
  branches: { free: 10, paid: 5_000, code: 'BRANCHES' },
  'root branches': { free: 3, paid: 25, code: 'ROOT_BRANCHES' },
  'protected branches': { free: 0, paid: 5, code: 'BRANCHES_PROTECTED' },
  'read replicas': { free: 3, paid: UNLIMITED, code: 'ENDPOINTS' },
  'active endpoints': { free: 20, paid: UNLIMITED, code: 'ACTIVE_ENDPOINTS' },
} as const

/** @throws {Refusal} 422 if the plan does not allow so many. */
const enforce = ({ plan }: ProjectRecord, what: keyof typeof LIMITS, count: number): void => {
  const { [plan]: most, code } = LIMITS[what]
  if (count > most) throw new Refusal(422, `${what} limit exceeded: the plan allows ${most}`, `${code}_LIMIT_EXCEEDED`)
}

const countOf = <T>(records: ReadonlyMap<string, T>, isCounted: (record: T) => boolean): number =>
  [...records.values()].filter(isCounted).length

/** @throws {Refusal} 422 if the plan does not allow another branch. */
export const checkBranchCount = ({ project, branches }: ProjectTables): void =>
  enforce(project, 'branches', branches.size + 1)

/** @throws {Refusal} 422 if the plan does not allow another branch without a parent. */
export const checkRootCount = ({ project, branches }: ProjectTables): void =>
  enforce(project, 'root branches', 1 + countOf(branches, ({ parentId }) => parentId === undefined))

/** @throws {Refusal} 422 if the plan does not allow another protected branch. */
export const checkProtectedCount = ({ project, branches }: ProjectTables): void =>
  enforce(project, 'protected branches', 1 + countOf(branches, ({ isProtected }) => isProtected))

/** @throws {Refusal} 422 if the plan does not allow `more` further replicas. */
export const checkReplicaCount = ({ project, computes }: ProjectTables, more: number): void =>
  enforce(project, 'read replicas', more + countOf(computes, ({ type }) => type === 'read_only'))

/**
 * Computes of the default branch do not count and are never refused.
 *
 * @throws {Refusal} 422 if the plan does not allow another active compute.
 */
export const checkActiveCount = ({ project, branches, computes }: ProjectTables, branchId: string): void => {
  const isExempt = (id: string): boolean => branches.get(id)?.isDefault === true
  if (isExempt(branchId)) return
  const isActive = ({ state, pendingState }: ComputeRecord): boolean => state === 'active' || pendingState === 'active'
  const count = countOf(computes, (compute) => isActive(compute) && !isExempt(compute.branchId))
  enforce(project, 'active endpoints', count + 1)
}

/** @throws {Refusal} 422 if the plan is free: it only has the default timeout. */
export const checkSuspendTimeout = ({ plan }: ProjectRecord, seconds: number | undefined): void => {
  if (plan === 'free' && seconds !== undefined && seconds !== 0) {
    throw new Refusal(422, 'suspend interval changing is not allowed for your account')
  }
}
