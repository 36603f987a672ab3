/** Reads policies from policy files and manifests. */
import {
  type Desired,
  type Diagnostic,
  globProblem,
  type Policy,
  type PolicyRule,
  parseDuration,
  type Source,
} from '../../model/index.ts'
import type { PolicyFileValue, PolicyValue } from '../definition/policy.ts'
import * as shipped from '../generated/validator.js'
import { onlyDocument } from '../only-document.ts'
import type { ManifestFile } from '../types.ts'
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
    const problems: Diagnostic[] = []
    const read = onlyDocument(file, shipped.policies, 'A policy file', problems)
    if (read !== undefined) {
      const { policies: values = [] } = read.value as unknown as PolicyFileValue
      policies.push(...values.map((value) => readPolicy(read.tree, value)).filter((one) => one !== undefined))
    }
    diagnostics.push(...problems)
  }
  const all = [...policies, ...declared]
  return { policies: all, diagnostics: [...diagnostics, ...twiceNamed(all), ...contradictions(all)] }
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

/** Returns `undefined` if a required part is invalid, which was reported. */
export const readPolicy = (tree: Tree, value: PolicyValue): Policy | undefined => {
  const { name, level, reason, projects, branches, except = [], computes = 'any' } = value
  const rule = toRule(value.rule)
  // Invalid parts were removed and reported.
  if (rule === undefined || name === undefined || level === undefined || reason === undefined) return undefined
  for (const list of [projects, branches, except]) {
    for (const [index, glob] of (list ?? []).entries()) {
      const problem = globProblem(glob)
      if (problem === undefined || list === undefined) continue
      tree.report('E_GLOB', tree.source(list, index), `This is not a valid glob: ${problem}.`)
    }
  }
  if (branches !== undefined && (rule.kind === 'maxProjectCu' || rule.kind === 'prune')) {
    const message = `\`${rule.kind}\` concerns whole projects, so the policy takes no \`branches\`.`
    tree.report('E_POLICY_BRANCHES', tree.source(value, 'branches'), message, 'Select with `projects`.')
  }
  return {
    name,
    level,
    reason,
    ...(projects === undefined ? {} : { projects }),
    ...(branches === undefined ? {} : { branches }),
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

const twiceNamed = (policies: readonly Policy[]): readonly Diagnostic[] => {
  const first = new Map<string, Source>()
  return policies.flatMap(({ name, source }): readonly Diagnostic[] => {
    const known = first.get(name)
    if (known === undefined) {
      first.set(name, source)
      return []
    }
    const message = `The policy \`${name}\` is already defined at ${known.file}:${known.line}:${known.column}.`
    return [{ severity: 'error', code: 'E_POLICY_NAME', message, hint: 'Rename one of the two.', source }]
  })
}

const contradictions = (policies: readonly Policy[]): readonly Diagnostic[] => {
  const selector = ({ within, projects, branches, except, computes }: Policy): string =>
    JSON.stringify([within, projects, branches, except, computes])
  return policies.flatMap((minimum) =>
    policies.flatMap((maximum): readonly Diagnostic[] => {
      if (minimum.rule.kind !== 'minSize' || maximum.rule.kind !== 'maxSize') return []
      if (minimum.rule.cu <= maximum.rule.cu || selector(minimum) !== selector(maximum)) return []
      const message = `\`${minimum.name}\` asks for at least ${minimum.rule.cu} CU, and \`${maximum.name}\` allows at most ${maximum.rule.cu} CU, for the same computes.`
      const hint = 'Exclude branches with `except` in one of the two.'
      return [{ severity: 'error', code: 'E_POLICY_CONTRADICTION', message, hint, source: minimum.source }]
    }),
  )
}
