/** What the manifests declare about deleting and interrupting the computes of a live project. */
import type { Desired, ObservedProject } from '../model/index.ts'
import { declarationsOf } from './declarations.ts'
import { manifestPolicyOf } from './manifest-policy.ts'

export interface DeclaredPolicy {
  readonly prune: boolean
  protects(branchId: string): boolean
  /** @param slot as in a change id: `BRANCH_ID/primary`. */
  hasWindow(compute: { readonly branch: string; readonly slot?: string; readonly id?: string }): boolean
}

export const declaredPolicyOf = (desired: Desired, project: ObservedProject): DeclaredPolicy => {
  const { branches, windowOf } = manifestPolicyOf(declarationsOf(desired, project))
  return {
    prune: desired.documents.some((document) => document.project === project.id && document.prune),
    protects: (branchId) => branches.get(branchId)?.shape.protect ?? false,
    hasWindow: (compute) => windowOf(compute) !== undefined,
  }
}
