/** Checks manifests offline, against the limits of a declared tier and against policies about declared values. */
import { defined, globFilter } from '../base/index.ts'
import {
  computesDeclaredBy,
  type Desired,
  type DesiredBranch,
  type DesiredDocument,
  type DesiredRule,
  type Diagnostic,
  isBranchId,
  type Policy,
  type PolicyBranch,
  type PolicyCompute,
  type PolicyProject,
  policyRuleRow,
  problem,
  type Source,
  tierOf,
  warning,
} from '../model/index.ts'
import { type Judgement, judgePolicies } from '../policy/index.ts'
import { checkTierReplicas, checkTierSettings } from '../service/index.ts'
import type { Manifests } from './manifests.ts'
import { appliedPolicies } from './policies.ts'

export interface OfflineChecks {
  readonly diagnostics: readonly Diagnostic[]
  /** The names of the policies that only `plan` can check, because they need live values. */
  readonly undecided: readonly string[]
}

/**
 * @param base earlier manifests. Their policies apply, and what already violates one there is only a warning.
 * @throws {EspalierError} `E_BASE` if the base's policies cannot be read.
 */
export const checkOffline = ({ loaded: { desired }, review = {} }: Manifests, base?: Manifests): OfflineChecks => {
  const { policies: own, overrides = new Map() } = review
  const policies = appliedPolicies(own, base)?.policies ?? []
  const judged = judgeDeclared(desired, base?.loaded.desired, policies, overrides)
  const all = [...desired.documents.flatMap(checkTier), ...judged.diagnostics]
  // A document for several projects has the same diagnostics for each of them.
  const distinct = new Map(all.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]))
  return { diagnostics: [...distinct.values()], undecided: judged.undecided }
}

const checkTier = ({ branches, rules, source, tier: word = 'none' }: DesiredDocument): readonly Diagnostic[] => {
  const tier = tierOf(word)
  if (tier === undefined) return []
  const computes = [...branches, ...rules].flatMap(computesDeclaredBy)
  const replicas = branches.reduce((sum, branch) => sum + branch.replicas.length, 0)
  return [
    ...computes.flatMap(({ attributes: { size, scaleToZero }, sources, source: own }) =>
      checkTierSettings(defined({ size, scaleToZero }), tier, (path) => sources[path] ?? own),
    ),
    ...checkTierReplicas(replicas, tier, source),
  ]
}

const judgeDeclared = (
  desired: Desired,
  base: Desired | undefined,
  policies: readonly Policy[],
  overrides: ReadonlyMap<string, string>,
): OfflineChecks => {
  const diagnostics: Diagnostic[] = []
  const undecided = new Set<string>()
  for (const policy of policies) {
    if (policyRuleRow(policy.rule.kind).of === 'plan') undecided.add(policy.name)
    for (const document of desired.documents) {
      const { project, source, sources } = document
      if (policy.within !== undefined && !policy.within.includes(project)) continue
      // The policy may name the project by its name, which is unknown offline.
      if (!globFilter(policy.projects)(project)) {
        undecided.add(policy.name)
        continue
      }
      const { isPartial, state: after } = declaredState(policy, project, [document])
      const earlier = base?.documents.filter((one) => one.project === project) ?? []
      if (isPartial) undecided.add(policy.name)
      const { projects: _, branches: _branches, within: _within, ...rest } = policy
      const judged = judgePolicies(
        [{ ...rest, except: [] }],
        [{ after, ...(earlier.length > 0 && { before: declaredState(policy, project, earlier).state }) }],
        { overrides, isComplete: false },
      )
      if (judged.undecided.length > 0) undecided.add(policy.name)
      diagnostics.push(...judged.results.flatMap((one) => toDiagnostic(one, sources?.prune ?? source)))
    }
  }
  return { diagnostics, undecided: [...undecided].sort() }
}

const declaredState = (policy: Policy, id: string, documents: readonly DesiredDocument[]) => {
  const shares = documents.map((document) => branchesFor(policy, document))
  const prune = documents.some((document) => document.prune)
  const state: PolicyProject = { id, prune, branches: shares.flatMap(({ branches }) => branches), isComplete: false }
  return { state, isPartial: shares.some(({ isPartial }) => isPartial) }
}

/**
 * The branches that a policy certainly applies to. It applies to all branches of a rule only if its pattern covers the
 * rule's pattern.
 */
const branchesFor = (
  policy: Policy,
  { branches, rules }: DesiredDocument,
): { readonly branches: readonly PolicyBranch[]; readonly isPartial: boolean } => {
  const included = policy.branches
  const isNamed = globFilter(included, policy.except)
  const isCovered = ({ match, except }: DesiredRule): boolean =>
    (included === undefined || included.some((glob) => covers(glob, match))) &&
    policy.except.every((glob) => except.includes(glob))
  // If a branch is declared by its id, its name is unknown.
  const isId = ({ ref }: DesiredBranch): boolean =>
    isBranchId(ref) && (included !== undefined || policy.except.length > 0)
  const covered = policyRuleRow(policy.rule.kind).of === 'project' ? [] : rules.filter(isCovered)
  return {
    branches: [
      ...branches.filter((branch) => !isId(branch) && isNamed(branch.ref)).map((branch) => stateOf(branch.ref, branch)),
      ...covered.map((rule) => stateOf(rule.match, rule)),
    ],
    isPartial: covered.length < rules.length || branches.some(isId),
  }
}

/** Whether `outer` matches everything that `inner` matches. */
const covers = (outer: string, inner: string): boolean => {
  if (outer === inner || outer === '**') return true
  const prefix = outer.endsWith('/**') ? outer.slice(0, -'**'.length) : ''
  return prefix !== '' && !/[*?[\]{}!]/.test(prefix) && inner.startsWith(prefix)
}

const stateOf = (name: string, shape: DesiredBranch | DesiredRule): PolicyBranch => ({
  name,
  protect: shape.protect,
  source: shape.protectSource ?? shape.source,
  computes: computesDeclaredBy(shape).map((compute): PolicyCompute => {
    const { key, attributes, restartWindow, sources, source } = compute
    const { size, scaleToZero } = attributes
    const isPrimary = compute === shape.primary
    return {
      key: `${name}/${isPrimary ? 'primary' : key}`,
      title: isPrimary ? 'primary' : `replica ${key}`,
      type: isPrimary ? 'read_write' : 'read_only',
      settings: defined({ size, scaleToZero }),
      hasWindow: restartWindow !== undefined && restartWindow !== 'always',
      source,
      sources,
    }
  }),
})

const toDiagnostic = (
  { outcome, message, reason, policy, source }: Judgement,
  place: Source,
): readonly Diagnostic[] => {
  if (outcome === 'overridden') return []
  const isDenied = outcome === 'denied'
  const words = `${message}. ${reason}`
  return isDenied
    ? [problem('E_POLICY', words, `To override, pass --override ${policy}=REASON.`, source ?? place)]
    : [warning('W_POLICY', words, undefined, source ?? place)]
}
