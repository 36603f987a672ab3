/** What a new manifest says beyond live values: defaults, and rules for branches that are alike. */
import { globMatches, groupBy } from '../../base/index.ts'
import type { ObservedProject } from '../../model/index.ts'
import type { Written } from './attributes.ts'
import { type BranchShape, computesOf, textOf } from './branch-shape.ts'

/** Moves the most common values into `defaults`, if all computes declare the attribute. */
export const takeDefaults = (
  shapes: readonly BranchShape[],
): { readonly defaults: Written; readonly rest: readonly BranchShape[]; readonly reasons: readonly string[] } => {
  const all = shapes.flatMap(computesOf)
  const defaults: Written = new Map()
  const reasons: string[] = []
  for (const key of ['size', 'scaleToZero']) {
    // A compute that is too large to scale to zero may have no `scaleToZero`, but a default would apply to it too.
    if (all.length < 2 || all.some((written) => !written.has(key))) continue
    const most = mostAlike(all, key)
    if (most.length < 2 || (key === 'size' && most.length <= all.length / 2)) continue
    const value = most[0]?.get(key)
    reasons.push(`defaults: \`${key}: ${inline(value)}\`, which ${most.length} of ${all.length} computes have`)
    defaults.set(key, value)
  }
  const withoutDefaults = (written: Written): Written =>
    new Map([...written].filter(([key, value]) => !defaults.has(key) || textOf(value) !== textOf(defaults.get(key))))
  const rest = shapes.map(
    ({ primary, replicas, ...shape }): BranchShape => ({
      ...shape,
      ...(primary && { primary: withoutDefaults(primary) }),
      replicas: new Map([...replicas].map(([name, written]) => [name, withoutDefaults(written)])),
    }),
  )
  return { defaults, rest, reasons }
}

const mostAlike = (all: readonly Written[], key: string): readonly Written[] => {
  const groups = groupBy(all, (written) => textOf(written.get(key)))
  const [most = []] = [...groups.values()].sort((a, b) => b.length - a.length)
  return most
}

const inline = (value: unknown): string =>
  value instanceof Map ? `{ ${[...value].map(([key, one]) => `${key}: ${String(one)}`).join(', ')} }` : String(value)

/** A rule is suggested for at least this many similar branches. */
const ALIKE = 3

export interface SuggestedRule {
  readonly rule: Written
  readonly reason: string
}

/**
 * Similar branches with the same prefix probably come and go, so a rule fits better than a list. The user has to
 * decide, so the rule is a comment. If no branches remain outside of the rules, all branches are listed instead.
 */
export const suggestRules = (
  shapes: readonly BranchShape[],
  project: ObservedProject,
): { readonly rules: readonly SuggestedRule[]; readonly listed: readonly BranchShape[] } => {
  const isPlain = ({ primary, replicas }: BranchShape): boolean =>
    replicas.size === 0 && primary?.has('id') === false && !primary.has('name')
  const groups = groupBy(shapes.filter(isPlain), ({ branch }) => /^([\w.-]+\/)+(?=[^/]+$)/.exec(branch.name)?.[0] ?? '')
  const rules: SuggestedRule[] = []
  const covered = new Set<BranchShape>()
  for (const [prefix, alike] of groups) {
    // Branches without a prefix get no rule.
    if (prefix === '') continue
    const match = `${prefix}*`
    const caught = project.branches.filter(({ name }) => globMatches(match, name)).length
    const bodies = new Set(alike.map(({ primary }) => textOf(primary)))
    if (alike.length < ALIKE || bodies.size > 1 || caught !== alike.length) continue
    rules.push({
      rule: new Map(Object.entries({ match, primary: alike[0]?.primary })),
      reason: `rule \`${match}\`, as a comment: its ${alike.length} branches are alike. Uncomment it to manage them and future ones`,
    })
    for (const shape of alike) covered.add(shape)
  }
  const listed = shapes.filter((shape) => !covered.has(shape))
  return listed.length === 0 ? { rules: [], listed: shapes } : { rules, listed }
}
