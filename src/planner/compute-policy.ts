/** What manifests say of interrupting and deleting a live compute. */
import type { Desired, ObservedCompute, ObservedProject, RestartWindow } from '../model/index.ts'
import { protectionOf, serviceProtects } from './protection.ts'
import { resolve } from './resolve.ts'
import { windowFor, windowsDeclared } from './windows.ts'

export interface ComputePolicy {
  /** Why it must not be deleted: a clause. */
  readonly undeletable?: string
  /** When it may be interrupted; absent: at any time. */
  readonly window?: RestartWindow
}

/** Of the computes of this project: as a plan of the same manifests holds to it. */
export const policyOf = (desired: Desired, project: ObservedProject): ((compute: ObservedCompute) => ComputePolicy) => {
  const documents = desired.documents.filter((document) => document.project === project.id)
  const protection = protectionOf(resolve(project, documents).branches, undefined)
  const windows = windowsDeclared(project, desired)
  const branches = new Map(project.branches.map((branch) => [branch.id, branch]))
  return ({ id, branchId }) => {
    const branch = branches.get(branchId)
    const why = protection.get(branchId)
    const window = windowFor([id, branchId], windows)
    const undeletable =
      why === undefined
        ? branch?.isProtected === true
          ? serviceProtects(branch.name, 'deleted')
          : undefined
        : `branch \`${branch?.name ?? branchId}\` is protected (${why}): nothing on it may be deleted`
    return { ...(undeletable === undefined ? {} : { undeletable }), ...(window === undefined ? {} : { window }) }
  }
}
