/** The order and spelling in which a manifest reads best, as its definition has them. */
import type { JsonSchema } from '../../base/index.ts'
import { manifestSchema } from '../definition/index.ts'

/** Of a map: its keys in order, and what its values are. Keys that are not named come last, as they are. */
export interface Shape {
  readonly order: readonly string[]
  readonly values: Readonly<Record<string, Shape>>
  /** Of the value under any key, or of a list's items: names are a person's own, and so is their order. */
  readonly each?: Shape
  /** Of several spellings that mean the same, the one that is written. */
  readonly spelling?: 'duration' | 'number' | 'size'
}

const NOTHING: Shape = { order: [], values: {} }

const SPELLINGS: Readonly<Record<string, NonNullable<Shape['spelling']>>> = {
  '#/$defs/size': 'size',
  '#/$defs/scaleToZero': 'duration',
}

const shapeOf = (schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): Shape => {
  const { $ref, then, properties, additionalProperties, items } = schema
  if (typeof $ref === 'string') {
    const spelling = SPELLINGS[$ref]
    const shape = shapeOf(definitions[$ref.slice('#/$defs/'.length)] ?? {}, definitions)
    return spelling === undefined ? shape : { ...shape, spelling }
  }
  // A map, or something plain.
  if (isSchema(then)) return shapeOf(then, definitions)
  if (isSchema(properties)) {
    const values = Object.entries(properties as Readonly<Record<string, JsonSchema>>)
    return {
      order: values.map(([key]) => key),
      values: Object.fromEntries(values.map(([key, value]) => [key, shapeOf(value, definitions)])),
    }
  }
  const each = isSchema(additionalProperties) ? additionalProperties : items
  if (isSchema(each)) return { ...NOTHING, each: shapeOf(each, definitions) }
  return schema.$comment === 'E_SIZE_STEP' ? { ...NOTHING, spelling: 'number' } : NOTHING
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

const { $defs, ...root } = manifestSchema()
const DEFINITIONS = $defs as Readonly<Record<string, JsonSchema>>

export const DOCUMENT: Shape = shapeOf(root, DEFINITIONS)

export const COMPUTE: Shape = shapeOf(DEFINITIONS.pinnedPrimary ?? {}, DEFINITIONS)

export const rankOf = (shape: Shape, key: string): number => {
  const rank = shape.order.indexOf(key)
  return rank < 0 ? shape.order.length : rank
}
