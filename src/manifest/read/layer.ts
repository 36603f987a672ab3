/** The content of a document or shared file, and how files override what they extend ("Precedence" in docs/reference/manifest.md). */
import { defined, didYouMean } from '../../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  canScaleToZero,
  type DesiredAbsence,
  type DesiredAbsentReplica,
  type DesiredBranch,
  type DesiredCompute,
  type DesiredDocument,
  type DesiredRule,
  type DesiredShape,
  isAbsence,
  type Policy,
  type Price,
  rowOf,
  SCALE_TO_ZERO_NEVER,
  type Source,
} from '../../model/index.ts'
import { scaleToZeroProblem } from '../words/specific.ts'
import { enumeration } from '../words/words.ts'
import { type AttributeSet, NO_ATTRIBUTES } from './attributes.ts'
import type { Sourced, Tree } from './tree.ts'

export interface ComputeLayer {
  readonly source: Source
  readonly id?: Sourced<string>
  readonly renamedFrom?: string
  readonly profile?: Sourced<string>
  readonly own: AttributeSet
}

export interface ShapeLayer {
  readonly source: Source
  readonly protect?: Sourced<boolean>
  readonly primary?: ComputeLayer | DesiredAbsence
  readonly replicas: ReadonlyMap<string, ComputeLayer | DesiredAbsence>
}

export interface RuleLayer extends ShapeLayer {
  readonly match: string
  readonly except: readonly string[]
  readonly expires?: boolean
}

export interface Layer {
  readonly prune?: Sourced<boolean>
  readonly parkOn?: Sourced<string>
  readonly price?: Sourced<Price>
  readonly tier?: Sourced<string>
  /** Seconds. */
  readonly skipExpiring?: Sourced<number>
  readonly policies: readonly Policy[]
  /** Includes the document's `restartWindow`, which a `restartWindow` under `defaults` overrides. */
  readonly defaults: AttributeSet
  readonly profiles: ReadonlyMap<string, AttributeSet>
  readonly branches: ReadonlyMap<string, ShapeLayer>
  readonly rules: readonly RuleLayer[]
}

export const EMPTY_LAYER: Layer = {
  policies: [],
  defaults: NO_ATTRIBUTES,
  profiles: new Map(),
  branches: new Map(),
  rules: [],
}

/** Merges two layers. `above` takes precedence. */
export const overlay = (below: Layer, above: Layer): Layer => ({
  ...below,
  ...above,
  defaults: overlayAttributes(below.defaults, above.defaults),
  profiles: new Map([...below.profiles, ...above.profiles]),
  branches: overlayMaps(below.branches, above.branches, overlayShapes),
  policies: [...below.policies, ...above.policies],
  rules: [...above.rules, ...below.rules.filter((rule) => !isReplaced(rule, above.rules))],
})

const isReplaced = ({ match, expires }: RuleLayer, rules: readonly RuleLayer[]): boolean =>
  rules.some((rule) => rule.match === match && rule.expires === expires)

const MAPS = ATTRIBUTE_KEYS.filter((key) => rowOf(key).type === 'map')

/** Merges attribute by attribute, and maps entry by entry. */
export const overlayAttributes = (below: AttributeSet, above: AttributeSet): AttributeSet => {
  if (below === NO_ATTRIBUTES) return above
  const values: Record<string, unknown> = { ...below.values, ...above.values }
  for (const key of MAPS) {
    if (values[key] !== undefined) values[key] = { ...(below.values[key] as object), ...(above.values[key] as object) }
  }
  return { ...below, ...above, values, sources: { ...below.sources, ...above.sources } }
}

const overlayShapes = (below: ShapeLayer, above: ShapeLayer): ShapeLayer => {
  const [lower, upper] = [below.primary, above.primary]
  return {
    ...below,
    ...above,
    ...(lower !== undefined && upper !== undefined ? { primary: overlayComputes(lower, upper) } : {}),
    replicas: overlayMaps(below.replicas, above.replicas, overlayComputes),
  }
}

type Declared = ComputeLayer | DesiredAbsence

const overlayComputes = (below: Declared, above: Declared): Declared =>
  isAbsence(below) || isAbsence(above) ? above : { ...below, ...above, own: overlayAttributes(below.own, above.own) }

const overlayMaps = <T>(
  below: ReadonlyMap<string, T>,
  above: ReadonlyMap<string, T>,
  overlayBoth: (below: T, above: T) => T,
): ReadonlyMap<string, T> => {
  if (below.size === 0) return above
  const result = new Map(below)
  for (const [key, upper] of above) {
    const lower = below.get(key)
    result.set(key, lower === undefined ? upper : overlayBoth(lower, upper))
  }
  return result
}

// Resolves merged layers to the desired state of each project: applies defaults and profiles to the computes.

type Report = Tree['report']

/** Returns one document per project. */
export const resolveLayer = (
  layer: Layer,
  projects: readonly Sourced<string>[],
  report: Report,
): readonly DesiredDocument[] => {
  const { defaults, prune, parkOn, price, tier, skipExpiring, policies } = layer
  const shape = (one: ShapeLayer): DesiredShape => resolveShape(one, layer, report)
  const branches = [...layer.branches].map(([ref, one]): DesiredBranch => ({ ref, source: one.source, ...shape(one) }))
  const rules = layer.rules.map((rule): DesiredRule => {
    const { match, except, expires, source } = rule
    return { match, except, ...defined({ expires }), source, ...shape(rule) }
  })
  return projects.map(({ value: project, source }) => ({
    project,
    source,
    branches,
    rules: rules.map((rule) =>
      projects.length > 1 || rule.source.file !== source.file ? { ...rule, isShared: true } : rule,
    ),
    prune: prune?.value ?? false,
    ...defined({
      parkOn: parkOn && { ref: parkOn.value, source: parkOn.source },
      restartWindow: defaults.restartWindow,
      price: price?.value,
      tier: tier?.value,
      skipExpiring: skipExpiring?.value,
      policies: policies.length === 0 ? undefined : policies,
    }),
    sources: defined({
      prune: prune?.source,
      parkOn: parkOn?.source,
      price: price?.source,
      tier: tier?.source,
      skipExpiring: skipExpiring?.source,
      restartWindow: defaults.sources.restartWindow,
    }),
  }))
}

const resolveShape = ({ protect, primary, replicas }: ShapeLayer, layer: Layer, report: Report): DesiredShape => {
  const first = primary === undefined || isAbsence(primary) ? primary : resolveCompute(primary, layer, report)
  const absent: DesiredAbsentReplica[] = []
  const named = [...replicas].flatMap(([name, own]): readonly DesiredCompute[] => {
    if (isAbsence(own)) {
      absent.push({ key: name, ...own })
      return []
    }
    const compute = resolveCompute(own, layer, report)
    return [
      {
        ...compute,
        key: name,
        attributes: { name, ...compute.attributes },
        sources: { name: own.source, ...compute.sources },
      },
    ]
  })
  if (first !== undefined && !isAbsence(first)) checkName(first, named, report)
  return {
    protect: protect?.value ?? false,
    ...defined({ protectSource: protect?.source, primary: first }),
    replicas: named,
    ...(absent.length > 0 && { absentReplicas: absent }),
  }
}

const checkName = (primary: DesiredCompute, replicas: readonly DesiredCompute[], report: Report): void => {
  const namesake = replicas.find(({ key }) => key === primary.attributes.name)
  if (namesake === undefined) return
  const message = `The primary and a replica of this branch are both named \`${namesake.key}\`.`
  report('E_DUPLICATE', primary.sources.name ?? primary.source, message, 'Rename one of the two.')
}

const resolveCompute = (
  { id, renamedFrom, profile, own, source }: ComputeLayer,
  { defaults, profiles }: Layer,
  report: Report,
): DesiredCompute => {
  const set = profile === undefined ? undefined : findProfile(profile, profiles, report)
  const below = set === undefined ? defaults : overlayAttributes(defaults, set)
  const { values, sources, restartWindow } = overlayAttributes(below, own)
  const compute: DesiredCompute = {
    ...defined({ id: id?.value, renamedFrom, restartWindow }),
    attributes: values,
    source,
    sources: id === undefined ? sources : { ...sources, id: id.source },
  }
  checkScaleToZero(compute, report)
  return compute
}

const findProfile = (
  { value: name, source }: Sourced<string>,
  profiles: ReadonlyMap<string, AttributeSet>,
  report: Report,
): AttributeSet | undefined => {
  const profile = profiles.get(name)
  if (profile !== undefined) return profile
  const known = [...profiles.keys()]
  const others = known.length === 0 ? 'No profiles are defined.' : `Defined profiles: ${enumeration(known)}.`
  const hint = didYouMean(name, known) ?? 'Define it under `profiles`.'
  return report('E_PROFILE_UNKNOWN', source, `The profile \`${name}\` is not defined. ${others}`, hint)
}

/** Checks a size and a scale to zero that come from different maps. The schema checks those in the same map. */
const checkScaleToZero = (
  { attributes: { size, scaleToZero }, sources, source }: DesiredCompute,
  report: Report,
): void => {
  if (size === undefined || scaleToZero === undefined || scaleToZero === SCALE_TO_ZERO_NEVER) return
  if (canScaleToZero(size)) return
  const { code, message, hint } = scaleToZeroProblem(size.max)
  const place = sources.scaleToZero?.file === source.file ? sources.scaleToZero : sources.size
  report(code, place ?? source, message, hint)
}
