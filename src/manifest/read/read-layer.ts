/** Recognises what a document is, and reads a valid document or shared file. */
import { defined } from '../../base/index.ts'
import { isPlainMap, type Plain } from '../../base/yaml/index.ts'
import { type DesiredWave, isAbsence, isBranchId, parseDuration, type Source } from '../../model/index.ts'
import type { BranchValue, ComputeValue, RuleValue, SharedValue, WavesValue } from '../definition/manifest.ts'
import { shareableKeys } from '../generated/validator.js'
import { readAttributes } from './attributes.ts'
import { type ComputeLayer, type Layer, overlayAttributes, type RuleLayer, type ShapeLayer } from './layer.ts'
import { checkGlob, readPolicy } from './policies.ts'
import type { Tree } from './tree.ts'

/** Whether a document has only keys that are allowed in shared files. */
export const isShared = (keys: readonly string[]): boolean =>
  keys.length > 0 && keys.every((key) => key === 'version' || shareableKeys.includes(key))

/** Keys that declare nothing by themselves. The other keys of a shared file take effect once a manifest extends it. */
const DEFINING_KEYS: readonly string[] = ['version', 'defaults', 'profiles', 'waves']

/** Whether a shared file would declare something if it were extended. */
export const isDeclaring = (keys: readonly string[]): boolean => keys.some((key) => !DEFINING_KEYS.includes(key))

const SEED_KEYS = ['projects', 'keys', '$schema']
const POLICY_KEYS = ['version', 'policies', '$schema']

/**
 * A sandbox seed: a map with a list of `projects`, each with an id, and perhaps `keys`. No manifest looks like that.
 */
export const isSeed = (value: Plain | undefined): boolean => {
  if (!isPlainMap(value) || !Object.keys(value).every((key) => SEED_KEYS.includes(key))) return false
  const { projects } = value
  return Array.isArray(projects) && projects.length > 0 && projects.every((one) => isPlainMap(one) && 'id' in one)
}

export const isPolicyFile = (value: Plain | undefined): boolean =>
  isPlainMap(value) && 'policies' in value && Object.keys(value).every((key) => POLICY_KEYS.includes(key))

/** @param isForSeveral whether it applies to several projects. If so, ids of branches and computes are errors. */
export const readLayer = (tree: Tree, value: SharedValue, isForSeveral: boolean): Layer => {
  const { policy = [], defaults = {}, profiles = {}, branches = {}, rules = [] } = value
  const time = tree.sourced(value, 'skipExpiring')
  const layer: Layer = {
    ...defined({
      prune: tree.sourced(value, 'prune'),
      parkOn: tree.sourced(value, 'parkOn'),
      price: tree.sourced(value, 'price'),
      tier: tree.sourced(value, 'tier'),
      skipExpiring: time && { ...time, value: parseDuration(time.value) ?? 0 },
    }),
    policies: policy.flatMap((one) => readPolicy(tree, one) ?? []),
    // The only attribute of a document itself is `restartWindow`.
    defaults: overlayAttributes(readAttributes(tree, value), readAttributes(tree, defaults)),
    profiles: new Map(Object.entries(profiles).map(([name, own]) => [name, readAttributes(tree, own)])),
    branches: new Map(
      Object.entries(branches).map(([ref, branch]) => [ref, readShape(tree, branch, tree.keySource(branches, ref))]),
    ),
    rules: readRules(tree, rules),
  }
  if (isForSeveral) checkIds(tree, layer)
  return layer
}

const readShape = (tree: Tree, value: BranchValue | RuleValue, source: Source): ShapeLayer => {
  const { primary, replicas = {} } = value
  return {
    source,
    ...defined({
      protect: tree.sourced(value, 'protect'),
      primary: primary && readDeclared(tree, value, 'primary', primary),
    }),
    replicas: new Map(Object.entries(replicas).map(([name, own]) => [name, readDeclared(tree, replicas, name, own)])),
  }
}

const readDeclared = (tree: Tree, parent: object, key: string, value: ComputeValue | 'absent') =>
  value === 'absent'
    ? { absent: true as const, source: tree.source(parent, key) }
    : readCompute(tree, value, tree.keySource(parent, key))

const readCompute = (tree: Tree, value: ComputeValue, source: Source): ComputeLayer => ({
  source,
  ...defined({
    id: tree.sourced(value, 'id'),
    renamedFrom: value.renamedFrom,
    profile: tree.sourced(value, 'profile'),
  }),
  own: readAttributes(tree, value),
})

const readRules = (tree: Tree, rules: readonly RuleValue[]): readonly RuleLayer[] => {
  const lines = new Map<string, number>()
  return rules.flatMap((rule): readonly RuleLayer[] => {
    const { match, except = [], expires } = rule
    const source = tree.source(rule, 'match')
    const isValid = checkGlob(tree, rule, 'match', match)
    const exceptions = except.filter((glob, index) => checkGlob(tree, except, index, glob))
    // There may be separate rules for branches that expire and those that do not.
    const key = `${match} ${expires}`
    const first = lines.get(key)
    lines.set(key, first ?? source.line)
    if (first !== undefined) {
      const message = `Line ${first} already has a rule for \`${match}\`. Only the first matching rule applies.`
      tree.report('E_DUPLICATE', source, message, 'Keep one of the two.')
    }
    if (!isValid || first !== undefined) return []
    return [{ match, except: exceptions, ...defined({ expires }), ...readShape(tree, rule, source) }]
  })
}

export const readWaves = (tree: Tree, waves: WavesValue): readonly DesiredWave[] => {
  const names = new Set<string>()
  return waves.map((wave) => {
    const source = tree.source(wave, 'name')
    if (names.has(wave.name))
      tree.report('E_DUPLICATE', source, `Two waves are named \`${wave.name}\`.`, 'Rename one of the two.')
    names.add(wave.name)
    for (const [index, glob] of wave.projects.entries()) checkGlob(tree, wave.projects, index, glob)
    return { name: wave.name, projects: wave.projects, source }
  })
}

const checkIds = (tree: Tree, { branches, parkOn }: Layer): void => {
  const refuse = (what: string, source: Source, hint: string): void => {
    tree.report(
      'E_ONE_PROJECT',
      source,
      `${what} can be set only for a single project, but this file or document applies to several.`,
      hint,
    )
  }
  const refuseId = (ref: string, source: Source): void => {
    if (isBranchId(ref)) refuse(`Branch \`${ref}\``, source, 'Write the name of the branch instead.')
  }
  if (parkOn !== undefined) refuseId(parkOn.value, parkOn.source)
  for (const [ref, { source, primary, replicas }] of branches) {
    refuseId(ref, source)
    for (const compute of [primary, ...replicas.values()]) {
      if (compute === undefined || isAbsence(compute) || compute.id === undefined) continue
      refuse(`Compute \`${compute.id.value}\``, compute.id.source, 'Pin it in a document with one `project`.')
    }
  }
}
