/** The canonical order of keys and the canonical form of values, both from the definition. */
import type { JsonSchema } from '../../base/index.ts'
import { type AnyAttributeRow, ATTRIBUTE_KEYS, rowOf } from '../../model/index.ts'
import { documentSchema } from '../definition/manifest.ts'

/** The shape of a map: the order of its keys, and the shapes of its values. Unknown keys stay in order, at the end. */
export interface Shape {
  readonly order: readonly string[]
  readonly values: ReadonlyMap<string, Shape>
  /** Shape of all values of a map, or of the items of a list. The author's order is kept. */
  readonly each?: Shape
  readonly attribute?: AnyAttributeRow
}

export const NO_SHAPE: Shape = { order: [], values: new Map() }

const BY_PATH = new Map(ATTRIBUTE_KEYS.map(rowOf).map((row) => [row.path, row]))

/** @param path path below a compute, if the value is an attribute. */
const shapeOf = (schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>, path = ''): Shape => {
  const { $ref, then, properties, additionalProperties, items } = schema
  if (typeof $ref === 'string') {
    const name = $ref.slice('#/$defs/'.length)
    return shapeOf(definitions[name] ?? {}, definitions, name)
  }
  const attribute = BY_PATH.get(path)
  const own = attribute === undefined ? NO_SHAPE : { ...NO_SHAPE, attribute }
  // Either a map or a plain value.
  if (isSchema(then)) return { ...shapeOf(then, definitions), ...(attribute === undefined ? {} : { attribute }) }
  if (isSchema(properties)) {
    const values = Object.entries(properties as Readonly<Record<string, JsonSchema>>)
    return {
      ...own,
      order: values.map(([key]) => key),
      values: new Map(values.map(([key, value]) => [key, shapeOf(value, definitions, `${path}.${key}`)])),
    }
  }
  const each = isSchema(additionalProperties) ? additionalProperties : items
  return isSchema(each) ? { ...own, each: shapeOf(each, definitions) } : own
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

const { $defs, ...root } = documentSchema()
const DEFINITIONS = $defs as Readonly<Record<string, JsonSchema>>

export const DOCUMENT: Shape = shapeOf(root, DEFINITIONS)

export const COMPUTE: Shape = shapeOf(DEFINITIONS.pinnedPrimary ?? {}, DEFINITIONS)

export const rankOf = (shape: Shape, key: string): number => {
  const rank = shape.order.indexOf(key)
  return rank < 0 ? shape.order.length : rank
}
