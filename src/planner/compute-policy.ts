/** Whether the manifests allow a live compute to be deleted, and when they allow it to be disrupted. */
import type { Desired, ObservedCompute, ObservedProject, RestartWindow } from '../model/index.ts'
import { declarationsOf } from './declarations.ts'
import { manifestPolicyOf } from './manifest-policy.ts'
import { protectedByService, protectionOf } from './protection.ts'

export interface ComputePolicy {
  /** Why the compute must not be deleted, as a clause. */
  readonly undeletable?: string
  /** When the compute may be disrupted. If absent, at any time. */
  readonly window?: RestartWindow
}

/** The policy that a plan of these manifests enforces for each compute of the project. */
export const policyOf = (desired: Desired, project: ObservedProject): ((compute: ObservedCompute) => ComputePolicy) => {
  const policy = manifestPolicyOf(declarationsOf(desired, project))
  const protection = protectionOf(policy)
  const branches = new Map(project.branches.map((branch) => [branch.id, branch]))
  return ({ id, branchId }) => {
    const { name = branchId, isProtected = false } = branches.get(branchId) ?? {}
    const why = protection.get(branchId)
    const window = policy.windowOf({ id, branch: branchId })
    return {
      ...(why !== undefined
        ? { undeletable: `branch \`${name}\` is protected (${why}): nothing on it may be deleted` }
        : isProtected && { undeletable: protectedByService(name, 'deleted') }),
      ...(window !== undefined && { window }),
    }
  }
}
