/** Which rule of a manifest applies to a branch. */
import { globFilter } from '../base/index.ts'
import type { DesiredDocument, DesiredRule } from './desired.ts'
import { compareSource } from './diagnostic.ts'
import type { ObservedBranch } from './observed.ts'

type Branch = Pick<ObservedBranch, 'name' | 'expiresAt'>

/** The documents in the order in which their rules are tried: by source, not in load order. */
export const inRuleOrder = (documents: readonly DesiredDocument[]): readonly DesiredDocument[] =>
  documents.toSorted((a, b) => compareSource(a.source, b.source))

/** Whether a rule matches a branch. Parses the rule's globs once. */
export const ruleFilter = ({
  match,
  except,
  expires,
}: Pick<DesiredRule, 'match' | 'except' | 'expires'>): ((branch: Branch) => boolean) => {
  const isMatch = globFilter([match], except)
  return ({ name, expiresAt }) => isMatch(name) && (expires === undefined || expires === (expiresAt !== undefined))
}

/** A rule, the branches that it matches, and those of them that no earlier rule matches: it applies to these. */
interface AppliedRule<B> {
  readonly document: DesiredDocument
  readonly rule: DesiredRule
  readonly matching: readonly B[]
  readonly own: readonly B[]
}

/** @param branches branches that no document lists by name or id. The first rule that matches a branch applies to it. */
export const applyRules = <B extends Branch>(
  documents: readonly DesiredDocument[],
  branches: readonly B[],
): readonly AppliedRule<B>[] => {
  const taken = new Set<B>()
  return inRuleOrder(documents).flatMap((document) =>
    document.rules.map((rule) => {
      const matching = branches.filter(ruleFilter(rule))
      const own = matching.filter((branch) => !taken.has(branch))
      for (const branch of own) taken.add(branch)
      return { document, rule, matching, own }
    }),
  )
}

/** The rule that applies to a branch that no document lists. */
export const ruleFor = (documents: readonly DesiredDocument[], branch: Branch): DesiredRule | undefined =>
  applyRules(documents, [branch]).find(({ own }) => own.length > 0)?.rule
