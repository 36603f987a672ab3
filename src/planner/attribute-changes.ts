/** What differs between a declared compute and a live one, in the words of the manifest. */
import { compare } from '../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type AttributeChange,
  type AttributeKey,
  type ComputeAttributes,
  type DesiredCompute,
  rowOf,
} from '../model/index.ts'

/** What the manifest asks for, whether or not a live compute has it already. */
export const managedKeys = ({ attributes }: DesiredCompute): readonly AttributeKey[] =>
  ATTRIBUTE_KEYS.filter((key) => attributes[key] !== undefined)

export interface AttributeChangeOptions {
  readonly keys: readonly AttributeKey[]
  readonly before: ComputeAttributes
  /** Whether anyone can be connected to the compute that changes. */
  readonly inUse: boolean
}

/** One entry for each attribute; a map is compared entry by entry. */
export const attributeChanges = (
  desired: DesiredCompute,
  { keys, before: live, inUse }: AttributeChangeOptions,
): readonly AttributeChange[] =>
  keys.flatMap((key) => {
    const { path, format, impact, reason, rule } = rowOf(key)
    const entry = (at: string, before: string | undefined, after: string): AttributeChange => {
      const source = desired.sources[at] ?? desired.sources[path]
      return {
        path: at,
        ...(before === undefined ? {} : { before }),
        after,
        impact: inUse ? impact(live[key], desired.attributes[key]) : 'none',
        reason,
        rule,
        ...(source === undefined ? {} : { source }),
      }
    }
    if (key === 'postgresSettings') {
      const before = new Map(Object.entries(live.postgresSettings ?? {}))
      return Object.entries(desired.attributes.postgresSettings ?? {})
        .filter(([name, value]) => before.get(name) !== value)
        .sort(([a], [b]) => compare(a, b))
        .map(([name, value]) => entry(`${path}.${name}`, before.get(name), value))
    }
    const before = live[key]
    return [entry(path, before === undefined ? undefined : format(before), format(desired.attributes[key]))]
  })
