/** Branch names to ids, rules to the live branches that they match. */
import { groupBy } from '../base/index.ts'
import {
  type BranchReference,
  type DesiredDocument,
  type DesiredShape,
  type Diagnostic,
  globMatcher,
  type ObservedBranch,
  type ObservedProject,
  type RestartWindow,
  type Source,
} from '../model/index.ts'
import { listed, meant, problem, warning } from './diagnostics.ts'
import { compare, compareSource } from './sort.ts'

/** What one live branch should hold. */
export interface ResolvedBranch {
  readonly branch: ObservedBranch
  readonly shape: DesiredShape
  readonly prune: boolean
  /** Of the document: for what nothing declares. */
  readonly restartWindow?: RestartWindow | 'always'
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
  const byName = groupBy(project.branches, ({ name }) => name)
  const diagnostics: Diagnostic[] = []
  const resolved = new Map<string, ResolvedBranch>()

  const find = ({ ref, source }: BranchReference): ObservedBranch | undefined => {
    const own = isBranchId(ref) ? byId.get(ref) : undefined
    const named = own === undefined ? (byName.get(ref) ?? []) : [own]
    const [branch] = named
    if (named.length > 1) {
      const ids = named.map(({ id }) => id).sort(compare)
      diagnostics.push(
        problem(
          'E_BRANCH_AMBIGUOUS',
          `Project \`${project.id}\` has ${ids.length} branches named \`${ref}\`: ${ids.join(', ')}.`,
          'Write the id of the one that is meant, or rename the others.',
          source,
        ),
      )
      return undefined
    }
    if (branch === undefined) {
      const known = isBranchId(ref) ? [...byId.keys()] : [...byName.keys()]
      diagnostics.push(
        problem(
          'E_BRANCH_UNKNOWN',
          `Project \`${project.id}\` has no branch \`${ref}\`.`,
          meant(ref, known, listed(known)),
          source,
        ),
      )
    }
    return branch
  }

  for (const document of documents) {
    const inOrder = [...document.branches].sort((a, b) => compareSource(a.source, b.source) || compare(a.ref, b.ref))
    for (const declared of inOrder) {
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
      resolved.set(branch.id, { branch, shape: declared, ...ofDocument(document), source: declared.source })
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

const ofDocument = ({ prune, restartWindow }: DesiredDocument) => ({
  prune,
  ...(restartWindow === undefined ? {} : { restartWindow }),
})

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
      const isMatch = globMatcher(rule.match)
      const exceptions = rule.except.map(globMatcher)
      const matching = free.filter(({ name }) => isMatch(name) && !exceptions.some((isException) => isException(name)))
      const unclaimed = matching.filter(({ id }) => !resolved.has(id))
      for (const branch of unclaimed) {
        resolved.set(branch.id, { branch, shape: rule, ...ofDocument(document), source: rule.source })
      }
      if (unclaimed.length > 0 || (rule.isShared === true && matching.length === 0)) continue
      diagnostics.push(
        matching.length === 0
          ? warning(
              'W_RULE_UNUSED',
              `The rule \`${rule.match}\` matches no branch of project \`${project.id}\` that is not listed by itself.`,
              'That is fine where such branches come and go; check the spelling otherwise.',
              rule.source,
            )
          : warning(
              'W_RULE_SHADOWED',
              `Every branch that the rule \`${rule.match}\` matches is taken by a rule before it.`,
              'The first match wins: put the narrower rule first.',
              rule.source,
            ),
      )
    }
  }
}
