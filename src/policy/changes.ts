/** Describes how a change to the policies themselves will take effect once it is merged. */
import { type Policy, policyRuleText } from '../model/index.ts'

/** One sentence, without a full stop, per policy added, removed or changed; sorted by name. */
export const policyChanges = (before: readonly Policy[], after: readonly Policy[]): readonly string[] => {
  const [was, is] = [before, after].map((all) => new Map(all.map((policy) => [policy.name, policy])))
  return [...new Set([...before, ...after].map(({ name }) => name))].sort().flatMap((name) => {
    const [from, to] = [was?.get(name), is?.get(name)]
    if (from === undefined) return to === undefined ? [] : [`Adds policy \`${name}\`: ${policyRuleText(to.rule)}`]
    if (to === undefined) return [`Removes policy \`${name}\`: ${policyRuleText(from.rule)}`]
    const parts = differences(from, to)
    return parts.length === 0 ? [] : [`Changes policy \`${name}\`: ${parts.join(', ')}`]
  })
}

const differences = (from: Policy, to: Policy): readonly string[] => {
  const parts = (policy: Policy): readonly (readonly [string, string])[] => [
    ['rule', policyRuleText(policy.rule)],
    ['per', policy.per ?? 'plan'],
    ['level', policy.level],
    ...(['projects', 'branches', 'except', 'computes', 'within'] as const).map(
      (key) => [key, listText(policy[key])] as const,
    ),
  ]
  const after = new Map(parts(to))
  return parts(from).flatMap(([key, was]) => {
    const is = after.get(key) ?? ''
    if (was === is) return []
    return [`${key === 'rule' ? '' : `${key === 'within' ? 'manifests of' : key} `}${was} → ${is}`]
  })
}

const listText = (value: string | readonly string[] | undefined): string =>
  value === undefined ? 'all' : typeof value === 'string' ? value : value.join(' ') || 'none'
