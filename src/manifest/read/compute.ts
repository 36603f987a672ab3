/** Declared computes: `primary`, and each of `replicas`. */
import { isScalar, type Node } from 'yaml'
import {
  type DesiredAbsence,
  type DesiredCompute,
  type DesiredShape,
  SCALE_TO_ZERO_NEVER,
  type Source,
} from '../../model/index.ts'
import { ATTRIBUTE_NAMES, type AttributeSet, overlay, readAttributes } from './attributes.ts'
import { didYouMean, type Entry, list, type ReadContext } from './context.ts'
import { readBoolean, readName, readPin, readText } from './values.ts'

/** What lies under every compute of a document. */
export interface Base {
  readonly defaults: AttributeSet
  readonly profiles: ReadonlyMap<string, AttributeSet>
}

/** `protect`, `primary` and `replicas` of a branch or a rule. A rule cannot pin: it speaks of many branches. */
export const readShape = (
  context: ReadContext,
  entries: ReadonlyMap<string, Entry>,
  base: Base,
  pinnable: boolean,
): DesiredShape => {
  const protect = entries.get('protect')
  const primaryEntry = entries.get('primary')
  const primary = primaryEntry && readPrimary(context, primaryEntry, base, pinnable)
  const replicasEntry = entries.get('replicas')
  const replicas = replicasEntry === undefined ? [] : readReplicas(context, replicasEntry.value, base, pinnable)
  if (primary !== undefined && !('absent' in primary)) {
    const namesake = replicas.find(({ key }) => key === primary.attributes.name)
    if (namesake !== undefined) {
      context.diagnostics.push({
        severity: 'error',
        code: 'E_NAME_TAKEN',
        message: `The name \`${namesake.key}\` stands twice on this branch, for the primary and for a replica.`,
        hint: 'Rename one of the two.',
        source: primary.sources.name ?? primary.source,
      })
    }
  }
  return {
    protect: protect === undefined ? false : (readBoolean(context, protect.value, '`protect`') ?? false),
    ...(primary === undefined ? {} : { primary }),
    replicas,
  }
}

const ABSENCE = 'Write `primary: absent` for a branch without a primary.'

const readPrimary = (
  context: ReadContext,
  { key, keyNode, value }: Entry,
  base: Base,
  pinnable: boolean,
): DesiredCompute | DesiredAbsence | undefined => {
  if (isScalar(value)) {
    if (value.value === 'absent') return { absent: true, source: context.source(value) }
    return context.wrongType(value, `\`${key}\``, 'a map of attributes, or `absent`', ABSENCE)
  }
  return readCompute(context, { keyNode, value }, base, ['name', ...(pinnable ? ['id'] : [])])
}

const readReplicas = (
  context: ReadContext,
  node: Node | null,
  base: Base,
  pinnable: boolean,
): readonly DesiredCompute[] =>
  (context.entries(node, '`replicas`') ?? []).flatMap(({ key, keyNode, value }) => {
    const name = readName(context, keyNode, key)
    const compute = readCompute(context, { keyNode, value }, base, pinnable ? ['id'] : [])
    if (compute === undefined || name === undefined) return []
    return [
      {
        ...compute,
        key: name,
        attributes: { name, ...compute.attributes },
        sources: { name: context.source(keyNode), ...compute.sources },
      },
    ]
  })

/** The one key of a compute that a rule cannot have. */
const NO_PIN = 'A rule is about many branches, and `id` pins one compute: list its branch under `branches`.'

const readCompute = (
  context: ReadContext,
  { keyNode, value }: Pick<Entry, 'keyNode' | 'value'>,
  base: Base,
  extraKeys: readonly string[],
): DesiredCompute | undefined => {
  const keys = [...extraKeys, 'profile', ...ATTRIBUTE_NAMES]
  const entries = context.known(value, 'A compute', keys, (key) => (key === 'id' ? NO_PIN : undefined))
  if (entries === undefined) return undefined
  const own = readAttributes(context, entries)
  const profile = readProfile(context, entries.get('profile'), base)
  const below = profile === undefined ? base.defaults : overlay(base.defaults, profile)
  const merged = overlay(below, own)

  const nameEntry = entries.get('name')
  const name = nameEntry && readName(context, nameEntry.value, readText(context, nameEntry.value, '`name`'))
  const idEntry = entries.get('id')
  const id = idEntry && readPin(context, idEntry.value)
  const sources: Record<string, Source> = { ...merged.sources }
  if (nameEntry !== undefined) sources.name = context.source(nameEntry.value)
  if (idEntry !== undefined) sources.id = context.source(idEntry.value)

  const source = context.source(keyNode)
  const compute: DesiredCompute = {
    ...(id === undefined ? {} : { id }),
    attributes: { ...(name === undefined ? {} : { name }), ...merged.values },
    ...(merged.restartWindow === undefined ? {} : { restartWindow: merged.restartWindow }),
    source,
    sources,
  }
  checkScaleToZero(context, compute)
  return compute
}

const readProfile = (context: ReadContext, entry: Entry | undefined, { profiles }: Base): AttributeSet | undefined => {
  const name = entry && readText(context, entry.value, '`profile`')
  if (entry === undefined || name === undefined) return undefined
  const profile = profiles.get(name)
  if (profile !== undefined) return profile
  const known = [...profiles.keys()]
  return context.report(
    'E_PROFILE_UNKNOWN',
    entry.value,
    known.length === 0
      ? `There is no profile \`${name}\`: none is defined.`
      : `There is no profile \`${name}\`; there is ${list(known)}.`,
    known.length === 0 ? 'Define it under `profiles:`.' : didYouMean(name, known),
  )
}

/** Size and scale to zero may come from different places, so they are looked at together. */
const checkScaleToZero = (context: ReadContext, { attributes, sources, source }: DesiredCompute): void => {
  const { size, scaleToZero } = attributes
  const limit = context.sizeTable.scaleToZeroMaxCu
  if (size === undefined || scaleToZero === undefined || size.max <= limit || scaleToZero === SCALE_TO_ZERO_NEVER)
    return
  context.diagnostics.push({
    severity: 'error',
    code: 'E_SCALE_TO_ZERO_SIZE',
    message: `A compute above ${limit} CU never scales to zero, and this one has ${size.max} CU.`,
    hint: `Write \`scaleToZero: never\`, or a size up to ${limit}.`,
    source: sources.scaleToZero?.file === source.file ? sources.scaleToZero : (sources.size ?? source),
  })
}
