/** How much an account's plan allows (docs of the service, "Plans" and "Limits"). */
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { ProjectTables } from './tables.ts'

const LIMITS: Readonly<
  Record<
    ProjectRecord['plan'],
    {
      readonly branches: number
      readonly rootBranches: number
      readonly protectedBranches: number
      readonly replicas: number
      readonly active: number
    }
  >
> = {
  free: { branches: 10, rootBranches: 3, protectedBranches: 0, replicas: 3, active: 20 },
  paid: {
    branches: 5_000,
    rootBranches: 25,
    protectedBranches: 5,
    replicas: Number.POSITIVE_INFINITY,
    active: Number.POSITIVE_INFINITY,
  },
}

/** @throws {Refusal} 422 if one more branch is too many. */
export const checkBranchCount = ({ project, branches }: ProjectTables): void => {
  const { branches: most } = LIMITS[project.plan]
  if (branches.size < most) return
  throw new Refusal(422, `branches limit exceeded: the plan allows ${most}`, 'BRANCHES_LIMIT_EXCEEDED')
}

/** @throws {Refusal} 422 if one more branch without a parent is too many. */
export const checkRootCount = ({ project, branches }: ProjectTables): void => {
  const { rootBranches: most } = LIMITS[project.plan]
  const count = [...branches.values()].filter(({ parentId }) => parentId === undefined).length
  if (count < most) return
  throw new Refusal(422, `root branches limit exceeded: the plan allows ${most}`, 'ROOT_BRANCHES_LIMIT_EXCEEDED')
}

/** @throws {Refusal} 422 if one more protected branch is too many. */
export const checkProtectedCount = ({ project, branches }: ProjectTables): void => {
  const { protectedBranches: most } = LIMITS[project.plan]
  const count = [...branches.values()].filter(({ isProtected }) => isProtected).length
  if (count < most) return
  throw new Refusal(
    422,
    `protected branches limit exceeded: the plan allows ${most}`,
    'BRANCHES_PROTECTED_LIMIT_EXCEEDED',
  )
}

/** @throws {Refusal} 422 if one more replica is too many. */
export const checkReplicaCount = ({ project, computes }: ProjectTables, more: number): void => {
  const { replicas: most } = LIMITS[project.plan]
  const count = [...computes.values()].filter(({ type }) => type === 'read_only').length
  if (count + more <= most) return
  throw new Refusal(422, `read replicas limit exceeded: the plan allows ${most}`, 'ENDPOINTS_LIMIT_EXCEEDED')
}

/**
 * Computes of the default branch do not count, and are never refused.
 *
 * @throws {Refusal} 422 if one more active compute is too many.
 */
export const checkActiveCount = ({ project, branches, computes }: ProjectTables, branchId: string): void => {
  const { active: most } = LIMITS[project.plan]
  const isExempt = (id: string): boolean => branches.get(id)?.isDefault === true
  if (most === Number.POSITIVE_INFINITY || isExempt(branchId)) return
  const isActive = (compute: ComputeRecord): boolean => compute.state === 'active' || compute.pendingState === 'active'
  const count = [...computes.values()].filter((compute) => isActive(compute) && !isExempt(compute.branchId)).length
  if (count < most) return
  throw new Refusal(422, `active endpoints limit exceeded: the plan allows ${most}`, 'ACTIVE_ENDPOINTS_LIMIT_EXCEEDED')
}

/** @throws {Refusal} 422: the free plan has the default time only. */
export const checkSuspendTimeout = ({ plan }: ProjectRecord, seconds: number | undefined): void => {
  if (plan === 'free' && seconds !== undefined && seconds !== 0) {
    throw new Refusal(422, 'suspend interval changing is not allowed for your account')
  }
}
