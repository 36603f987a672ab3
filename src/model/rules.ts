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

/** The rule that applies to a branch that no document lists: the first one that matches it. */
export const ruleFor = (documents: readonly DesiredDocument[], branch: Branch): DesiredRule | undefined =>
  inRuleOrder(documents)
    .flatMap(({ rules }) => rules)
    .find((rule) => ruleFilter(rule)(branch))
