/** Reads policies from policy files and manifests. */

import { defined, groupBy } from '../../base/index.ts'
import {
  type Desired,
  type Diagnostic,
  globProblem,
  type Policy,
  type PolicyRule,
  parseDuration,
  problem,
} from '../../model/index.ts'
import type { PolicyFileValue, PolicyValue } from '../definition/policy.ts'
import * as shipped from '../generated/validator.js'
import type { ManifestFile } from '../types.ts'
import { onlyDocument } from '../valid-part.ts'
import { globWords } from '../words/specific.ts'
import type { Tree } from '../yaml/tree.ts'

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
      const { file, line, column } = policy.source
      const place = `${file}:${line}:${column}`
      const within = new Set([...(byPlace.get(place)?.within ?? []), project])
      byPlace.set(place, { ...policy, within: [...within].sort() })
    }
  }
  return [...byPlace.values()]
}

/** Returns `undefined` if a required part is invalid, which has already been reported. */
export const readPolicy = (tree: Tree, value: PolicyValue): Policy | undefined => {
  const { name, level, reason, projects, branches, except = [], computes = 'any' } = value
  const rule = toRule(value.rule)
  // Invalid parts were removed and reported.
  if (rule === undefined || name === undefined || level === undefined || reason === undefined) return undefined
  for (const globs of [projects ?? [], branches ?? [], except]) {
    for (const [index, glob] of globs.entries()) checkGlob(tree, globs, index, glob)
  }
  if (branches !== undefined && (rule.kind === 'maxProjectCu' || rule.kind === 'prune')) {
    const message = `\`${rule.kind}\` applies to whole projects, so the policy cannot have \`branches\`.`
    tree.report('E_POLICY_RULE', tree.source(value, 'branches'), message, 'Select projects with `projects` instead.')
  }
  return {
    name,
    level,
    reason,
    ...defined({ projects, branches }),
    except,
    computes,
    rule,
    source: tree.source(value, 'name'),
  }
}

const toRule = (value: PolicyValue['rule'] | undefined): PolicyRule | undefined => {
  const { maxSize, minSize, maxProjectCu, maxReplicas, scaleToZero, maxScaleToZero, maxCuHours } = value ?? {}
  if (maxSize !== undefined) return { kind: 'maxSize', cu: maxSize }
  if (minSize !== undefined) return { kind: 'minSize', cu: minSize }
  if (maxProjectCu !== undefined) return { kind: 'maxProjectCu', cu: maxProjectCu }
  if (maxReplicas !== undefined) return { kind: 'maxReplicas', count: maxReplicas }
  if (scaleToZero !== undefined) return { kind: 'scaleToZero', is: scaleToZero }
  if (maxScaleToZero !== undefined) return { kind: 'maxScaleToZero', seconds: parseDuration(maxScaleToZero) ?? 0 }
  if (maxCuHours !== undefined) return { kind: 'maxCuHours', cuHours: maxCuHours }
  if (value?.restartWindow !== undefined) return { kind: 'restartWindow', is: 'required' }
  if (value?.protect !== undefined) return { kind: 'protect', is: 'required' }
  return value?.prune === undefined ? undefined : { kind: 'prune', is: 'forbidden' }
}

const duplicateNames = (policies: readonly Policy[]): readonly Diagnostic[] =>
  [...groupBy(policies, ({ name }) => name)].flatMap(([name, [first, ...others]]) => {
    const { file, line, column } = first?.source ?? {}
    const message = `The policy \`${name}\` is already defined at ${file}:${line}:${column}.`
    return others.map(({ source }) => problem('E_DUPLICATE', message, 'Rename one of the two.', source))
  })

const contradictions = (policies: readonly Policy[]): readonly Diagnostic[] => {
  const selector = ({ within, projects, branches, except, computes }: Policy): string =>
    JSON.stringify([within, projects, branches, except, computes])
  return policies.flatMap((minimum) =>
    policies.flatMap((maximum): readonly Diagnostic[] => {
      if (minimum.rule.kind !== 'minSize' || maximum.rule.kind !== 'maxSize') return []
      if (minimum.rule.cu <= maximum.rule.cu || selector(minimum) !== selector(maximum)) return []
      const message = `\`${minimum.name}\` requires at least ${minimum.rule.cu} CU, but \`${maximum.name}\` allows at most ${maximum.rule.cu} CU for the same computes.`
      const hint = 'Exclude branches with `except` in one of the two.'
      return [problem('E_POLICY_RULE', message, hint, minimum.source)]
    }),
  )
}

/** Whether a glob in a map or list is valid. Reports it if not. */
export const checkGlob = (tree: Tree, parent: object, key: string | number, glob: string): boolean => {
  const why = globProblem(glob)
  if (why === undefined) return true
  const { code, message } = globWords(why)
  tree.report(code, tree.source(parent, key), message)
  return false
}
