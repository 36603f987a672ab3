/** Reads policies from policy files and manifests. */

import { defined, globProblem, groupBy } from '../../base/index.ts'
import {
  type Desired,
  type Diagnostic,
  POLICY_RULE_NAMES,
  type Policy,
  type PolicyRule,
  type PolicyRuleName,
  policyRuleRow,
  problem,
  sourceText,
} from '../../model/index.ts'
import type { PolicyFileValue, PolicyValue } from '../definition/policy.ts'
import * as shipped from '../generated/validator.js'
import type { ManifestFile } from '../types.ts'
import { onlyDocument } from '../valid-part.ts'
import { globWords } from '../words/specific.ts'
import type { Tree } from './tree.ts'

/**
 * Parses all policy files. Use the policies only if there are no problems.
 *
 * @param declared policies from manifests, which are added at the end.
 */
export const parsePolicies = (
  files: readonly ManifestFile[],
  declared: readonly Policy[] = [],
): { readonly policies: readonly Policy[]; readonly diagnostics: readonly Diagnostic[] } => {
  const diagnostics: Diagnostic[] = []
  const policies: Policy[] = []
  for (const file of files) {
    const read = onlyDocument(file, shipped.policies, 'A policy file', diagnostics)
    const { policies: values = [] } = (read?.value ?? {}) as Partial<PolicyFileValue>
    if (read !== undefined) policies.push(...values.flatMap((value) => readPolicy(read.tree, value) ?? []))
  }
  const all = [...policies, ...declared]
  return { policies: all, diagnostics: [...diagnostics, ...duplicateNames(all), ...contradictions(all)] }
}

/** Policies of manifests and the files that they extend, each with its projects. */
export const declaredPolicies = ({ documents }: Pick<Desired, 'documents'>): readonly Policy[] => {
  const byPlace = new Map<string, Policy>()
  for (const { project, policies = [] } of documents) {
    for (const policy of policies) {
      const place = sourceText(policy.source)
      const within = new Set([...(byPlace.get(place)?.within ?? []), project])
      byPlace.set(place, { ...policy, within: [...within].sort() })
    }
  }
  return [...byPlace.values()]
}

/** Returns `undefined` if a required part is invalid, which has already been reported. */
export const readPolicy = (tree: Tree, value: PolicyValue): Policy | undefined => {
  const { name, level, reason, projects, branches, except = [], computes = 'any', per } = value
  const rule = toRule(value.rule)
  // Invalid parts were removed and reported.
  if (rule === undefined || name === undefined || level === undefined || reason === undefined) return undefined
  for (const globs of [projects ?? [], branches ?? [], except]) {
    for (const [index, glob] of globs.entries()) checkGlob(tree, globs, index, glob)
  }
  checkSelectors(tree, value, rule.kind)
  return {
    name,
    level,
    reason,
    ...defined({ projects, branches, per }),
    except,
    computes,
    rule,
    source: tree.source(value, 'name'),
  }
}

const toRule = (value: PolicyValue['rule'] | undefined): PolicyRule | undefined => {
  const kind = POLICY_RULE_NAMES.find((name) => value?.[name] !== undefined)
  const limit = kind === undefined ? undefined : value?.[kind]
  return kind === undefined || limit === undefined ? undefined : { kind, limit: policyRuleRow(kind).read(limit) }
}

/** Reports keys that would have no effect on the rule. */
const checkSelectors = (tree: Tree, value: PolicyValue, kind: PolicyRuleName): void => {
  const { of } = policyRuleRow(kind)
  if (value.per !== undefined && of !== 'plan') {
    const message = `\`per: day\` limits what is done in a day, but \`${kind}\` limits what is declared.`
    tree.report('E_POLICY_RULE', tree.source(value, 'per'), message, 'Remove `per`.')
  }
  const found = UNUSED[of === 'usage' && value.branches === undefined ? 'project' : of]
  const wrong = found?.keys.find((key) => value[key] !== undefined)
  if (found === undefined || wrong === undefined) return
  const message = `\`${kind}\` applies to ${found.whole}, so the policy cannot have \`${wrong}\`.`
  const hint = wrong === 'computes' ? 'Remove `computes`.' : 'Select projects with `projects` instead.'
  tree.report('E_POLICY_RULE', tree.source(value, wrong), message, hint)
}

type Unused = { readonly keys: readonly ('branches' | 'except' | 'computes')[]; readonly whole: string }

/** The selectors that have no effect on a rule, by what the rule measures. */
const UNUSED: Readonly<Record<string, Unused>> = {
  plan: { keys: ['branches', 'except', 'computes'], whole: 'the whole plan' },
  project: { keys: ['branches', 'except', 'computes'], whole: 'whole projects' },
  branch: { keys: ['computes'], whole: 'whole branches' },
  usage: { keys: ['computes'], whole: 'whole branches' },
}

const duplicateNames = (policies: readonly Policy[]): readonly Diagnostic[] =>
  [...groupBy(policies, ({ name }) => name)].flatMap(([name, [first, ...others]]) => {
    if (first === undefined) return []
    const message = `The policy \`${name}\` is already defined at ${sourceText(first.source)}.`
    return others.map(({ source }) => problem('E_DUPLICATE', message, 'Rename one of the two.', source))
  })

const contradictions = (policies: readonly Policy[]): readonly Diagnostic[] => {
  const selector = ({ within, projects, branches, except, computes }: Policy): string =>
    JSON.stringify([within, projects, branches, except, computes])
  return policies.flatMap((minimum) =>
    policies.flatMap((maximum): readonly Diagnostic[] => {
      if (minimum.rule.kind !== 'minSize' || maximum.rule.kind !== 'maxSize') return []
      if (minimum.rule.limit <= maximum.rule.limit || selector(minimum) !== selector(maximum)) return []
      const message = `\`${minimum.name}\` requires at least ${minimum.rule.limit} CU, but \`${maximum.name}\` allows at most ${maximum.rule.limit} CU for the same computes.`
      const hint = 'Exclude branches with `except` in one of the two.'
      return [problem('E_POLICY_RULE', message, hint, minimum.source)]
    }),
  )
}

/** Whether a glob in a map or list is valid. Reports it if not. */
export const checkGlob = (tree: Tree, parent: object, key: string | number, glob: string): boolean => {
  const why = globProblem(glob)
  if (why === undefined) return true
  const { code, message, hint } = globWords(why)
  tree.report(code, tree.source(parent, key), message, hint)
  return false
}
