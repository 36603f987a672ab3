/** Resolves merged layers to the desired state of each project: applies defaults and profiles to the computes. */
import {
  type DesiredBranch,
  type DesiredCompute,
  type DesiredDocument,
  type DesiredRule,
  type DesiredShape,
  isAbsence,
  SCALE_TO_ZERO_NEVER,
  type SizeTable,
} from '../../model/index.ts'
import { didYouMean, list } from '../words/list.ts'
import { scaleToZeroProblem } from '../words/specific.ts'
import type { Tree } from '../yaml/tree.ts'
import type { AttributeSet } from './attributes.ts'
import type { ComputeLayer, Layer, ShapeLayer, Sourced } from './layer.ts'
import { overlayAttributes } from './overlay.ts'

export interface ResolveOptions {
  readonly report: Tree['report']
  readonly sizeTable: SizeTable
}

/** Returns one document per project. */
export const resolveLayer = (
  layer: Layer,
  projects: readonly Sourced<string>[],
  options: ResolveOptions,
): readonly DesiredDocument[] => {
  const { defaults, prune, parkOn, price, skipExpiring, policies } = layer
  const { restartWindow, sources } = defaults
  const shape = (one: ShapeLayer): DesiredShape => resolveShape(one, layer, options)
  const branches = [...layer.branches].map(([ref, one]): DesiredBranch => ({ ref, source: one.source, ...shape(one) }))
  const rules = layer.rules.map(
    (rule): DesiredRule => ({
      match: rule.match,
      except: rule.except,
      ...(rule.expires === undefined ? {} : { expires: rule.expires }),
      source: rule.source,
      ...shape(rule),
    }),
  )
  const places = {
    ...(prune === undefined ? {} : { prune: prune.source }),
    ...(parkOn === undefined ? {} : { parkOn: parkOn.source }),
    ...(price === undefined ? {} : { price: price.source }),
    ...(skipExpiring === undefined ? {} : { skipExpiring: skipExpiring.source }),
    ...(sources.restartWindow === undefined ? {} : { restartWindow: sources.restartWindow }),
  }
  return projects.map(({ value: project, source }) => ({
    project,
    source,
    branches,
    rules: rules.map((rule) =>
      projects.length > 1 || rule.source.file !== source.file ? { ...rule, isShared: true } : rule,
    ),
    prune: prune?.value ?? false,
    ...(parkOn === undefined ? {} : { parkOn: { ref: parkOn.value, source: parkOn.source } }),
    ...(restartWindow === undefined ? {} : { restartWindow }),
    ...(price === undefined ? {} : { price: price.value }),
    ...(skipExpiring === undefined ? {} : { skipExpiring: skipExpiring.value }),
    ...(policies.length === 0 ? {} : { policies }),
    sources: places,
  }))
}

const resolveShape = (
  { protect, primary, replicas }: ShapeLayer,
  layer: Layer,
  options: ResolveOptions,
): DesiredShape => {
  const first = primary === undefined || 'absent' in primary ? primary : resolveCompute(primary, layer, options)
  const named = [...replicas].map(([name, own]): DesiredCompute => {
    const compute = resolveCompute(own, layer, options)
    return {
      ...compute,
      key: name,
      attributes: { name, ...compute.attributes },
      sources: { name: own.source, ...compute.sources },
    }
  })
  if (first !== undefined && !isAbsence(first)) checkName(first, named, options)
  return {
    protect: protect?.value ?? false,
    ...(protect === undefined ? {} : { protectSource: protect.source }),
    ...(first === undefined ? {} : { primary: first }),
    replicas: named,
  }
}

const checkName = (primary: DesiredCompute, replicas: readonly DesiredCompute[], { report }: ResolveOptions): void => {
  const namesake = replicas.find(({ key }) => key === primary.attributes.name)
  if (namesake === undefined) return
  const message = `The primary and a replica of this branch are both named \`${namesake.key}\`.`
  report('E_NAME_TAKEN', primary.sources.name ?? primary.source, message, 'Rename one of the two.')
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
    ...(id === undefined ? {} : { id: id.value }),
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    attributes: values,
    ...(restartWindow === undefined ? {} : { restartWindow }),
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
  if (known.length === 0) {
    return report('E_PROFILE_UNKNOWN', source, `There is no profile \`${name}\`: none is defined.`, DEFINE_PROFILE)
  }
  const message = `There is no profile \`${name}\`; the profiles are ${list(known)}.`
  return report('E_PROFILE_UNKNOWN', source, message, didYouMean(name, known))
}

const DEFINE_PROFILE = 'Define it under `profiles:`.'

/** For size and scale to zero from different maps. If both are in the same map, the schema checks them. */
const checkScaleToZero = (
  { attributes: { size, scaleToZero }, sources, source }: DesiredCompute,
  { report, sizeTable }: ResolveOptions,
): void => {
  if (size === undefined || scaleToZero === undefined || scaleToZero === SCALE_TO_ZERO_NEVER) return
  if (size.max <= sizeTable.scaleToZeroMaxCu) return
  const { code, message, hint } = scaleToZeroProblem(size.max, sizeTable)
  const place = sources.scaleToZero?.file === source.file ? sources.scaleToZero : sources.size
  report(code, place ?? source, message, hint)
}
