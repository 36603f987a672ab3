/** Branch names to ids, rules to the live branches that they match. */
import {
  type BranchReference,
  type DesiredDocument,
  type DesiredShape,
  type Diagnostic,
  globMatches,
  type ObservedBranch,
  type ObservedProject,
  type Source,
} from '../model/index.ts'
import { nearest, problem, warning } from './diagnostics.ts'

/** What one live branch should hold. */
export interface ResolvedBranch {
  readonly branch: ObservedBranch
  readonly shape: DesiredShape
  readonly prune: boolean
  readonly source: Source
}

export interface ResolvedProject {
  readonly branches: readonly ResolvedBranch[]
  readonly parkOn: readonly { readonly reference: BranchReference; readonly branch: ObservedBranch }[]
  readonly diagnostics: readonly Diagnostic[]
}

const isBranchId = (ref: string): boolean => ref.startsWith('br-')

export const resolve = (project: ObservedProject, documents: readonly DesiredDocument[]): ResolvedProject => {
  const byId = new Map(project.branches.map((branch) => [branch.id, branch]))
  const byName = new Map(project.branches.map((branch) => [branch.name, branch]))
  const diagnostics: Diagnostic[] = []
  const resolved = new Map<string, ResolvedBranch>()

  const find = ({ ref, source }: BranchReference): ObservedBranch | undefined => {
    const branch = isBranchId(ref) ? (byId.get(ref) ?? byName.get(ref)) : byName.get(ref)
    if (branch === undefined) {
      const known = isBranchId(ref) ? [...byId.keys()] : [...byName.keys()]
      diagnostics.push(
        problem('E_BRANCH_UNKNOWN', `Project \`${project.id}\` has no branch \`${ref}\`.`, nearest(ref, known), source),
      )
    }
    return branch
  }

  for (const document of documents) {
    for (const declared of document.branches) {
      const branch = find(declared)
      if (branch === undefined) continue
      const other = resolved.get(branch.id)
      if (other !== undefined) {
        diagnostics.push(
          problem(
            'E_TWO_CLAIMS',
            `Branch \`${branch.name}\` (${branch.id}) is declared twice, here and at ${other.source.file}:${other.source.line}.`,
            'Keep one of the two.',
            declared.source,
          ),
        )
        continue
      }
      resolved.set(branch.id, { branch, shape: declared, prune: document.prune, source: declared.source })
    }
  }
  applyRules(project, documents, resolved, diagnostics)

  const parkOn = documents.flatMap(({ parkOn: reference }) => {
    const branch = reference === undefined ? undefined : find(reference)
    return reference === undefined || branch === undefined ? [] : [{ reference, branch }]
  })
  return {
    branches: [...resolved.values()].sort((a, b) => compare(a.branch.id, b.branch.id)),
    parkOn,
    diagnostics,
  }
}

/** A branch that is declared by itself is never matched; of several rules the first one counts. */
const applyRules = (
  project: ObservedProject,
  documents: readonly DesiredDocument[],
  resolved: Map<string, ResolvedBranch>,
  diagnostics: Diagnostic[],
): void => {
  const free = project.branches.filter(({ id }) => !resolved.has(id))
  for (const document of documents) {
    for (const rule of document.rules) {
      let used = false
      for (const branch of free) {
        if (!globMatches(rule.match, branch.name) || rule.except.some((glob) => globMatches(glob, branch.name)))
          continue
        used = true
        if (!resolved.has(branch.id)) {
          resolved.set(branch.id, { branch, shape: rule, prune: document.prune, source: rule.source })
        }
      }
      if (!used) {
        diagnostics.push(
          warning(
            'W_RULE_UNUSED',
            `No branch of project \`${project.id}\` matches the rule \`${rule.match}\`.`,
            'That is fine where such branches come and go; check the spelling otherwise.',
            rule.source,
          ),
        )
      }
    }
  }
}

/** By code unit, so that the order is the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
