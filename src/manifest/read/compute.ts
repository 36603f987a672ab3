/** Declared computes: `primary`, and each of `replicas`. */
import {
  type DesiredCompute,
  type DesiredShape,
  isAbsence,
  SCALE_TO_ZERO_NEVER,
  type SizeTable,
  type Source,
} from '../../model/index.ts'
import type { BranchValue, ComputeValue, RuleValue } from '../definition/index.ts'
import { didYouMean, list } from '../words/list.ts'
import { scaleToZeroProblem } from '../words/specific.ts'
import type { Tree } from '../yaml/tree.ts'
import { type AttributeSet, overlay, readAttributes } from './attributes.ts'

/** What every compute of a document starts from. */
export interface Base {
  readonly defaults: AttributeSet
  readonly profiles: ReadonlyMap<string, AttributeSet>
}

/** `protect`, `primary` and `replicas` of a branch or a rule. */
export const readShape = (tree: Tree, value: BranchValue | RuleValue, base: Base, table: SizeTable): DesiredShape => {
  const { protect = false, primary: declared, replicas: named = {} } = value
  const read = (compute: ComputeValue, source: Source): DesiredCompute =>
    readCompute(tree, compute, source, base, table)
  const primary =
    declared === undefined
      ? undefined
      : declared === 'absent'
        ? ({ absent: true, source: tree.source(value, 'primary') } as const)
        : read(declared, tree.keySource(value, 'primary'))
  const replicas = Object.entries(named).map(([name, own]): DesiredCompute => {
    const source = tree.keySource(named, name)
    const compute = read(own, source)
    return {
      ...compute,
      key: name,
      attributes: { name, ...compute.attributes },
      sources: { name: source, ...compute.sources },
    }
  })
  if (primary !== undefined && !isAbsence(primary)) checkName(tree, primary, replicas)
  return { protect, ...(primary === undefined ? {} : { primary }), replicas }
}

const checkName = (tree: Tree, primary: DesiredCompute, replicas: readonly DesiredCompute[]): void => {
  const namesake = replicas.find(({ key }) => key === primary.attributes.name)
  if (namesake === undefined) return
  const message = `The primary and a replica of this branch are both named \`${namesake.key}\`.`
  tree.report('E_NAME_TAKEN', primary.sources.name ?? primary.source, message, 'Rename one of the two.')
}

const readCompute = (tree: Tree, value: ComputeValue, source: Source, base: Base, table: SizeTable): DesiredCompute => {
  const { id, renamedFrom } = value
  const profile = value.profile === undefined ? undefined : findProfile(tree, value, value.profile, base)
  const below = profile === undefined ? base.defaults : overlay(base.defaults, profile)
  const merged = overlay(below, readAttributes(tree, value))
  const compute: DesiredCompute = {
    ...(id === undefined ? {} : { id }),
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    attributes: merged.values,
    ...(merged.restartWindow === undefined ? {} : { restartWindow: merged.restartWindow }),
    source,
    sources: {
      ...merged.sources,
      ...(id === undefined ? {} : { id: tree.source(value, 'id') }),
    },
  }
  checkScaleToZero(tree, compute, table)
  return compute
}

const findProfile = (tree: Tree, value: object, name: string, { profiles }: Base): AttributeSet | undefined => {
  const profile = profiles.get(name)
  if (profile !== undefined) return profile
  const known = [...profiles.keys()]
  tree.report(
    'E_PROFILE_UNKNOWN',
    tree.source(value, 'profile'),
    known.length === 0
      ? `There is no profile \`${name}\`: none is defined.`
      : `There is no profile \`${name}\`; there is ${list(known)}.`,
    known.length === 0 ? 'Define it under `profiles:`.' : didYouMean(name, known),
  )
  return undefined
}

/** Size and scale to zero may come from different places; what one map says of both, the schema checks. */
const checkScaleToZero = (
  tree: Tree,
  { attributes: { size, scaleToZero }, sources, source }: DesiredCompute,
  table: SizeTable,
): void => {
  if (size === undefined || scaleToZero === undefined || scaleToZero === SCALE_TO_ZERO_NEVER) return
  if (size.max <= table.scaleToZeroMaxCu) return
  const { code, message, hint } = scaleToZeroProblem(size.max, table)
  const place = sources.scaleToZero?.file === source.file ? sources.scaleToZero : sources.size
  tree.report(code, place ?? source, message, hint)
}
