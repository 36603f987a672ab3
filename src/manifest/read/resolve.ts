/** Resolves merged layers to the desired state of each project: applies defaults and profiles to the computes. */
import { defined, didYouMean } from '../../base/index.ts'
import {
  type DesiredAbsentReplica,
  type DesiredBranch,
  type DesiredCompute,
  type DesiredDocument,
  type DesiredRule,
  type DesiredShape,
  isAbsence,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
} from '../../model/index.ts'
import { scaleToZeroProblem } from '../words/specific.ts'
import { enumeration } from '../words/words.ts'
import type { AttributeSet } from './attributes.ts'
import { type ComputeLayer, type Layer, overlayAttributes, type ShapeLayer } from './layer.ts'
import type { Sourced, Tree } from './tree.ts'

export interface ResolveOptions {
  readonly report: Tree['report']
}

/** Returns one document per project. */
export const resolveLayer = (
  layer: Layer,
  projects: readonly Sourced<string>[],
  options: ResolveOptions,
): readonly DesiredDocument[] => {
  const { defaults, prune, parkOn, price, tier, skipExpiring, policies } = layer
  const shape = (one: ShapeLayer): DesiredShape => resolveShape(one, layer, options)
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

const resolveShape = (
  { protect, primary, replicas }: ShapeLayer,
  layer: Layer,
  options: ResolveOptions,
): DesiredShape => {
  const first = primary === undefined || isAbsence(primary) ? primary : resolveCompute(primary, layer, options)
  const absent: DesiredAbsentReplica[] = []
  const named = [...replicas].flatMap(([name, own]): readonly DesiredCompute[] => {
    if (isAbsence(own)) {
      absent.push({ key: name, ...own })
      return []
    }
    const compute = resolveCompute(own, layer, options)
    return [
      {
        ...compute,
        key: name,
        attributes: { name, ...compute.attributes },
        sources: { name: own.source, ...compute.sources },
      },
    ]
  })
  if (first !== undefined && !isAbsence(first)) checkName(first, named, options)
  return {
    protect: protect?.value ?? false,
    ...defined({ protectSource: protect?.source, primary: first }),
    replicas: named,
    ...(absent.length > 0 && { absentReplicas: absent }),
  }
}

const checkName = (primary: DesiredCompute, replicas: readonly DesiredCompute[], { report }: ResolveOptions): void => {
  const namesake = replicas.find(({ key }) => key === primary.attributes.name)
  if (namesake === undefined) return
  const message = `The primary and a replica of this branch are both named \`${namesake.key}\`.`
  report('E_DUPLICATE', primary.sources.name ?? primary.source, message, 'Rename one of the two.')
}

const resolveCompute = (
  { id, renamedFrom, profile, own, source }: ComputeLayer,
  { defaults, profiles }: Layer,
  options: ResolveOptions,
): DesiredCompute => {
  const set = profile === undefined ? undefined : findProfile(profile, profiles, options)
  const below = set === undefined ? defaults : overlayAttributes(defaults, set)
  const { values, sources, restartWindow } = overlayAttributes(below, own)
  const compute: DesiredCompute = {
    ...defined({ id: id?.value, renamedFrom, restartWindow }),
    attributes: values,
    source,
    sources: id === undefined ? sources : { ...sources, id: id.source },
  }
  checkScaleToZero(compute, options)
  return compute
}

const findProfile = (
  { value: name, source }: Sourced<string>,
  profiles: ReadonlyMap<string, AttributeSet>,
  { report }: ResolveOptions,
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
  { report }: ResolveOptions,
): void => {
  if (size === undefined || scaleToZero === undefined || scaleToZero === SCALE_TO_ZERO_NEVER) return
  if (size.max <= SIZE_TABLE.scaleToZeroMaxCu) return
  const { code, message, hint } = scaleToZeroProblem(size.max)
  const place = sources.scaleToZero?.file === source.file ? sources.scaleToZero : sources.size
  report(code, place ?? source, message, hint)
}
