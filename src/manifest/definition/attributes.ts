/** The attribute table as JSON Schema. */
import { type JsonSchema, map, oneOf, type Schema, when } from '../../base/index.ts'
import { ATTRIBUTE_GROUPS, ATTRIBUTE_KEYS, rowOf, SIZE_TABLE, type SizeTable } from '../../model/index.ts'
import { RESTART_WINDOW } from './restart-window.ts'

type Keys = Readonly<Record<string, Schema<unknown>>>

/** Schemas of the keys of defaults, profiles and computes. Groups of attributes are maps. */
const attributeSchemas = (table: SizeTable): Keys => {
  const keys: Record<string, JsonSchema> = {}
  const groups: Record<string, Record<string, JsonSchema>> = {}
  for (const row of ATTRIBUTE_KEYS.map(rowOf)) {
    if (row.isOwn === true) continue
    const [key = '', name] = row.path.split('.')
    if (name === undefined) {
      keys[key] = row.schema(table)
      continue
    }
    groups[key] = { ...groups[key], [name]: row.schema(table) }
    keys[key] = map(groups[key], ATTRIBUTE_GROUPS[key])
  }
  return { ...keys, restartWindow: RESTART_WINDOW }
}

/** Entries of `$defs`. Shared, because computes occur in five places. */
export const attributeDefinitions = (table: SizeTable): Readonly<Record<string, JsonSchema>> => ({
  ...attributeSchemas(table),
  largeNeverScalesToZero: largeNeverScalesToZero(table),
})

/** References to {@link attributeDefinitions}, by key. */
export const ATTRIBUTE_PROPERTIES: Keys = Object.fromEntries(
  Object.keys(attributeSchemas(SIZE_TABLE)).map((key) => [key, { $ref: `#/$defs/${key}` }]),
)

/** Computes above the table's limit cannot scale to zero. */
const largeNeverScalesToZero = (table: SizeTable): JsonSchema => {
  const large = oneOf(table.steps.map(({ cu }) => cu).filter((cu) => cu > table.scaleToZeroMaxCu))
  // Not an enum of objects: ajv compares objects with fast-deep-equal, which calls a manifest's own `toString`.
  const size = when(
    { type: 'object' },
    { type: 'object', properties: { min: large, max: large }, required: ['min', 'max'] },
    large,
  )
  return when(
    { type: 'object', properties: { size }, required: ['size'] },
    {
      type: 'object',
      properties: { scaleToZero: { const: 'never', $comment: 'E_SCALE_TO_ZERO_SIZE' } },
    },
  )
}
