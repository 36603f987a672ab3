/** Resolves branch names to ids, and rules to the live branches that they match. */
import { compare, defined, didYouMean, groupBy, listed } from '../base/index.ts'
import {
  applyRules,
  type BranchReference,
  compareSource,
  type DeclaredWindow,
  type DesiredDocument,
  type DesiredRule,
  type DesiredShape,
  type Diagnostic,
  isBranchId,
  type ObservedBranch,
  type ObservedProject,
  placeWords,
  problem,
  type Source,
  warning,
} from '../model/index.ts'

/** The desired content of one live branch. */
export interface ResolvedBranch {
  readonly branch: ObservedBranch
  readonly shape: DesiredShape
  /** Absent if the branch is listed by name or id. */
  readonly rule?: DesiredRule
  readonly prune: boolean
  /** The window from the document's defaults. Applies to undeclared computes. */
  readonly restartWindow?: DeclaredWindow
  readonly skipExpiring?: number
  readonly source: Source
}

/** Whether the service or the manifest protects the branch. */
export const isProtected = ({ branch, shape }: Pick<ResolvedBranch, 'branch' | 'shape'>): boolean =>
  branch.isProtected || shape.protect

export interface ResolvedProject {
  /** Sorted by branch id. */
  readonly branches: readonly ResolvedBranch[]
  /** Whether a document says `prune: true`. */
  readonly prune: boolean
  readonly parkOn: readonly { readonly reference: BranchReference; readonly branch: ObservedBranch }[]
  readonly diagnostics: readonly Diagnostic[]
}

export const resolve = (project: ObservedProject, documents: readonly DesiredDocument[]): ResolvedProject => {
  const diagnostics: Diagnostic[] = []
  const resolved = new Map<string, ResolvedBranch>()
  const add = (
    branch: ObservedBranch,
    shape: DesiredShape & { readonly source: Source },
    { prune, restartWindow, skipExpiring }: DesiredDocument,
    rule?: DesiredRule,
  ) => {
    resolved.set(branch.id, {
      branch,
      shape,
      prune,
      ...defined({ rule, restartWindow, skipExpiring }),
      source: shape.source,
    })
  }
  const find = branchFinder(project, diagnostics)

  for (const document of documents) {
    const inOrder = [...document.branches].sort((a, b) => compareSource(a.source, b.source) || compare(a.ref, b.ref))
    for (const declared of inOrder) {
      const branch = find(declared)
      if (branch === undefined) continue
      const other = resolved.get(branch.id)?.source
      if (other === undefined) {
        add(branch, declared, document)
        continue
      }
      const message = `Branch \`${branch.name}\` (${branch.id}) is declared twice: here and${placeWords(other)}.`
      diagnostics.push(
        problem('E_DUPLICATE', message, 'Move the content of one entry into the other.', declared.source),
      )
    }
  }

  // A rule never matches a branch listed by name or id.
  const unlisted = project.branches.filter(({ id }) => !resolved.has(id))
  for (const { document, rule, matching, own } of applyRules(documents, unlisted)) {
    for (const branch of own) add(branch, rule, document, rule)
    if (own.length > 0 || (rule.isShared === true && matching.length === 0)) continue
    diagnostics.push(matching.length === 0 ? unusedRule(rule, project) : shadowedRule(rule))
  }

  const parkOn = documents.flatMap(({ parkOn: reference }) => {
    const branch = reference && find(reference)
    return reference === undefined || branch === undefined ? [] : [{ reference, branch }]
  })
  return {
    branches: [...resolved.values()].sort((a, b) => compare(a.branch.id, b.branch.id)),
    prune: documents.some(({ prune }) => prune),
    parkOn,
    diagnostics,
  }
}

const unusedRule = ({ match, source }: DesiredRule, { id }: ObservedProject): Diagnostic => {
  const message = `The rule \`${match}\` matches no branch of project \`${id}\`, except branches that are listed by name or id.`
  return warning('W_RULE_UNUSED', message, 'Check the spelling. Ignore this if such branches are temporary.', source)
}

const shadowedRule = ({ match, source }: DesiredRule): Diagnostic => {
  const message = `Every branch that the rule \`${match}\` matches is already matched by an earlier rule.`
  return warning('W_RULE_SHADOWED', message, 'The first match applies: put the narrower rule first.', source)
}

const branchFinder = (project: ObservedProject, diagnostics: Diagnostic[]) => {
  const byId = new Map(project.branches.map((branch) => [branch.id, branch]))
  const byName = groupBy(project.branches, ({ name }) => name)
  return ({ ref, source }: BranchReference): ObservedBranch | undefined => {
    const own = isBranchId(ref) ? byId.get(ref) : undefined
    const [branch, ...others] = own === undefined ? (byName.get(ref) ?? []) : [own]
    if (branch === undefined) {
      const known = [...(isBranchId(ref) ? byId : byName).keys()]
      const message = `Project \`${project.id}\` has no branch \`${ref}\`.`
      const near = didYouMean(ref, known) ?? listNames(known)
      const hint = `${near} If the branch was deleted, delete its entry at ${source.file}:${source.line}. A rule does not need its branches to exist.`
      diagnostics.push(problem('E_BRANCH_UNKNOWN', message, hint, source))
      return undefined
    }
    if (others.length === 0) return branch
    const ids = [branch, ...others].map(({ id }) => id).sort(compare)
    const message = `Project \`${project.id}\` has ${ids.length} branches named \`${ref}\`: ${ids.join(', ')}.`
    diagnostics.push(problem('E_BRANCH_AMBIGUOUS', message, 'Use the id of one of them, or rename the others.', source))
    return undefined
  }
}

const MAX_LISTED = 8

const listNames = (names: readonly string[]): string => {
  if (names.length === 0) return 'The project has no branches.'
  const sorted = names.toSorted(compare).map((name) => `\`${name}\``)
  return `The project has ${listed(sorted, MAX_LISTED)}.`
}
