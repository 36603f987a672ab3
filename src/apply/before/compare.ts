/** Compares a compute with what was requested, and with its earlier state. */
import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../base/index.ts'
import {
  type AttributeKey,
  attributesFromWire,
  attributesToWire,
  type ComputeAttributes,
  differingKeys,
  type Moved,
  type ObservedCompute,
  rowOf,
  type StepRequest,
  valuesOf,
  valueText,
  type WireAttributes,
} from '../../model/index.ts'

export type Endpoint = NonNullable<StepRequest['body']>['endpoint']

const NOTHING = 'nothing'

/** The values as text, by manifest path. */
const textsOf = (keys: readonly AttributeKey[], attributes: ComputeAttributes): ReadonlyMap<string, string> =>
  new Map(
    keys.flatMap((key) =>
      [...valuesOf(key, attributes)].map(([path, value]) => [path, valueText(key, value)] as const),
    ),
  )

/** The size that is requested. If the request sets only one of the two limits, the other is the live one. */
export const askedSize = (endpoint: WireAttributes, live: ComputeAttributes): Pick<ComputeAttributes, 'size'> => {
  const min = endpoint.autoscaling_limit_min_cu ?? live.size?.min
  const max = endpoint.autoscaling_limit_max_cu ?? live.size?.max
  const named = endpoint.autoscaling_limit_min_cu !== undefined || endpoint.autoscaling_limit_max_cu !== undefined
  return named && min !== undefined && max !== undefined ? { size: { min, max } } : {}
}

/** The attributes that a request changes. It may also contain unchanged values, which are ignored. */
const changesOf = (endpoint: Endpoint, before: ComputeAttributes): ComputeAttributes => {
  const asked = { ...attributesFromWire(endpoint), ...askedSize(endpoint, before) }
  const keys = differingKeys(asked, before)
  const changes = Object.fromEntries(keys.map((key) => [key, asked[key]])) as ComputeAttributes
  if (changes.postgresSettings === undefined) return changes
  const entries = Object.entries(changes.postgresSettings)
  return {
    ...changes,
    postgresSettings: Object.fromEntries(entries.filter(([name, value]) => before.postgresSettings?.[name] !== value)),
  }
}

/** A requested value that the compute does not show. */
export interface Unmet {
  /** A manifest path, or `branch`. */
  readonly path: string
  /** The live value. `undefined` if there is none. */
  readonly got: string | undefined
  /** For messages: `path: before …, requested …, got …` */
  readonly words: string
}

/** The requested changes that the compute does not show. Empty if all of them are in effect. */
export const unmetBy = (
  live: ObservedCompute,
  { body }: StepRequest,
  before: ObservedCompute | undefined,
): readonly Unmet[] => {
  const endpoint: Endpoint = body?.endpoint ?? {}
  const asked = changesOf(endpoint, before?.attributes ?? {})
  const keys = differingKeys(asked, live.attributes)
  const branch = endpoint.branch_id
  const [got, had] = [textsOf(keys, live.attributes), textsOf(keys, before?.attributes ?? {})]
  return [
    ...(branch === undefined || branch === live.branchId
      ? []
      : [{ path: 'branch', got: live.branchId, words: `branch: requested ${branch}, got ${live.branchId}` }]),
    ...[...textsOf(keys, asked)].flatMap(([path, text]) => {
      const [was, is] = [had.get(path), got.get(path)]
      const words = `${path}: ${was === undefined ? '' : `before ${was}, `}requested ${text}, got ${is ?? NOTHING}`
      return text === is ? [] : [{ path, got: is, words }]
    }),
  ]
}

export type Comparison =
  /** Every value is as before or as requested, but some are not as requested yet. `body` requests these. */
  | { readonly kind: 'unchanged'; readonly body: StepRequest['body'] }
  | { readonly kind: 'in-effect' }
  | { readonly kind: 'moved'; readonly moved: readonly Moved[] }

/** Compares for an update or a move. Attributes that the request does not change are ignored. */
export const compare = ({ body }: StepRequest, before: ObservedCompute, live: ObservedCompute): Comparison => {
  const endpoint: Endpoint = body?.endpoint ?? {}
  const changes = changesOf(endpoint, before.attributes)
  const moved = [...movedBranch(endpoint.branch_id, before, live), ...movedValues(changes, before, live)]
  if (moved.length > 0) return { kind: 'moved', moved }
  const keys = differingKeys(changes, live.attributes)
  const branch = endpoint.branch_id === live.branchId ? undefined : endpoint.branch_id
  if (branch === undefined && keys.length === 0) return { kind: 'in-effect' }
  const asked = attributesToWire(changes, keys, live)
  return { kind: 'unchanged', body: { endpoint: { ...defined({ branch_id: branch }), ...asked } } }
}

const movedBranch = (asked: string | undefined, before: ObservedCompute, live: ObservedCompute): readonly Moved[] =>
  live.branchId === before.branchId || live.branchId === asked
    ? []
    : [{ what: 'branch', before: before.branchId, after: live.branchId }]

/** The values that are neither as before nor as requested. */
const movedValues = (changes: ComputeAttributes, before: ObservedCompute, live: ObservedCompute): readonly Moved[] =>
  differingKeys(changes, live.attributes)
    .filter((key) => {
      const had = before.attributes[key]
      // The snapshot did not contain this attribute, so the plan did not depend on it.
      if (had === undefined) return false
      return rowOf(key).type === 'map' || !rowOf(key).satisfied(had, live.attributes[key])
    })
    .flatMap((key) => {
      const [had, has] = [textsOf([key], before.attributes), textsOf([key], live.attributes)]
      return [...textsOf([key], changes)].flatMap(([path, asked]) => {
        const [then, now] = [had.get(path), has.get(path)]
        return now === then || now === asked ? [] : [{ what: path, before: then ?? NOTHING, after: now ?? NOTHING }]
      })
    })

/** What has changed before a delete. A delete relies on the compute's branch and name being the same. */
export const movedForDelete = (
  before: ObservedCompute,
  live: ObservedCompute,
  isReplaced: boolean,
): readonly Moved[] => [
  ...movedBranch(undefined, before, live),
  ...(before.attributes.name === live.attributes.name
    ? []
    : [{ what: 'name', before: before.attributes.name ?? NOTHING, after: live.attributes.name ?? NOTHING }]),
  // The successor gets the settings that the compute had when the plan was made, so newer settings would be lost.
  ...(!isReplaced || before.settings === undefined || isDeepStrictEqual(before.settings, live.settings)
    ? []
    : // Their values may be secret.
      [{ what: rowOf('postgresSettings').path, before: 'as planned', after: 'changed' }]),
]
