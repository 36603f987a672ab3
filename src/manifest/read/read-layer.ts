/** Reads a valid document or shared file. */
import { type DesiredWave, globProblem, parseDuration, type Source } from '../../model/index.ts'
import {
  type BranchValue,
  type ComputeValue,
  DEFINING_KEYS,
  type RuleValue,
  SHARED_KEYS,
  type SharedValue,
  type WavesValue,
} from '../definition/index.ts'
import { list } from '../words/list.ts'
import type { Tree } from '../yaml/tree.ts'
import { readAttributes } from './attributes.ts'
import type { ComputeLayer, Layer, RuleLayer, ShapeLayer } from './layer.ts'
import { overlayAttributes } from './overlay.ts'
import { readPolicy } from './policies.ts'

/** Whether a document has only keys that are allowed in shared files. */
export const isShared = (keys: readonly string[]): boolean =>
  keys.length > 0 && keys.every((key) => SHARED_KEYS.includes(key))

/** Whether a shared file would declare something if it were extended. */
export const isDeclaring = (keys: readonly string[]): boolean => keys.some((key) => !DEFINING_KEYS.includes(key))

/** @param isForSeveral whether it is for several projects. Ids of branches and computes are not allowed then. */
export const readLayer = (tree: Tree, value: SharedValue, isForSeveral: boolean): Layer => {
  const { prune, parkOn, price, skipExpiring, policy = [] } = value
  const { defaults = {}, profiles = {}, branches = {}, rules = [] } = value
  const layer: Layer = {
    ...(prune === undefined ? {} : { prune: { value: prune, source: tree.source(value, 'prune') } }),
    ...(parkOn === undefined ? {} : { parkOn: { value: parkOn, source: tree.source(value, 'parkOn') } }),
    ...(price === undefined ? {} : { price: { value: price, source: tree.source(value, 'price') } }),
    ...(skipExpiring === undefined
      ? {}
      : { skipExpiring: { value: parseDuration(skipExpiring) ?? 0, source: tree.source(value, 'skipExpiring') } }),
    policies: policy.map((one) => readPolicy(tree, one)).filter((one) => one !== undefined),
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
  const { protect, primary, replicas = {} } = value
  return {
    source,
    ...(protect === undefined ? {} : { protect: { value: protect, source: tree.source(value, 'protect') } }),
    ...(primary === undefined
      ? {}
      : {
          primary:
            primary === 'absent'
              ? { absent: true, source: tree.source(value, 'primary') }
              : readCompute(tree, primary, tree.keySource(value, 'primary')),
        }),
    replicas: new Map(
      Object.entries(replicas).map(([name, own]) => [name, readCompute(tree, own, tree.keySource(replicas, name))]),
    ),
  }
}

const readCompute = (tree: Tree, value: ComputeValue, source: Source): ComputeLayer => {
  const { id, renamedFrom, profile } = value
  return {
    source,
    ...(id === undefined ? {} : { id: { value: id, source: tree.source(value, 'id') } }),
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    ...(profile === undefined ? {} : { profile: { value: profile, source: tree.source(value, 'profile') } }),
    own: readAttributes(tree, value),
  }
}

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
      const message = `Line ${first} already has a rule for ${list([match])}, and the first match wins.`
      tree.report('E_TWO_RULES', source, message, 'Keep one of the two.')
    }
    if (!isValid || first !== undefined) return []
    return [
      { match, except: exceptions, ...(expires === undefined ? {} : { expires }), ...readShape(tree, rule, source) },
    ]
  })
}

export const readWaves = (tree: Tree, waves: WavesValue): readonly DesiredWave[] => {
  const names = new Set<string>()
  return waves.map((wave) => {
    const source = tree.source(wave, 'name')
    if (names.has(wave.name)) tree.report('E_VALUE', source, `There are two waves named ${list([wave.name])}.`)
    names.add(wave.name)
    for (const [index, glob] of wave.projects.entries()) checkGlob(tree, wave.projects, index, glob)
    return { name: wave.name, projects: wave.projects, source }
  })
}

const checkGlob = (tree: Tree, parent: object, key: string | number, glob: string): boolean => {
  const problem = globProblem(glob)
  if (problem === undefined) return true
  tree.report('E_GLOB', tree.source(parent, key), `This is not a valid glob: ${problem}.`)
  return false
}

const checkIds = (tree: Tree, { branches, parkOn }: Layer): void => {
  const refuse = (what: string, source: Source, hint: string): void => {
    tree.report('E_ONE_PROJECT', source, `${what} belongs to one project, and this is for several.`, hint)
  }
  const byName = 'Write the name of the branch.'
  if (parkOn?.value.startsWith('br-') === true) refuse(`Branch ${list([parkOn.value])}`, parkOn.source, byName)
  for (const [ref, { source, primary, replicas }] of branches) {
    if (ref.startsWith('br-')) refuse(`Branch ${list([ref])}`, source, byName)
    for (const compute of [primary, ...replicas.values()]) {
      if (compute === undefined || 'absent' in compute || compute.id === undefined) continue
      const hint = 'Pin it in a document with one `project`.'
      refuse(`Compute ${list([compute.id.value])}`, compute.id.source, hint)
    }
  }
}
