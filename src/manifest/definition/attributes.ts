/** The attribute table and restart windows as JSON Schema. */
import { type JsonSchema, list, map, mapOr, oneOf, type Schema, text, when } from '../../base/index.ts'
import { ATTRIBUTE_GROUPS, ATTRIBUTE_KEYS, rowOf, SIZE_TABLE, WEEKDAYS } from '../../model/index.ts'

export const RESTART_WINDOW = mapOr(
  map(
    {
      days: list(oneOf(WEEKDAYS, { $comment: 'E_DAY' }), {
        minItems: 1,
        description: 'The days on which the window opens. Default: every day.',
        examples: [['sat', 'sun']],
        $comment: 'E_DAYS',
      }),
      from: text({
        pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
        description: 'The time at which the window opens, from `"00:00"` to `"23:59"`.',
        examples: ['02:00'],
        $comment: 'E_TIME',
      }),
      to: text({
        pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
        description:
          'The time at which the window closes, up to `"24:00"`. If it is before `from`, the window closes on the next day.',
        examples: ['04:00', '24:00'],
        $comment: 'E_TIME',
      }),
      timezone: text({
        pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
        description: 'The IANA name of the time zone. Offsets are not valid because they ignore daylight saving time.',
        examples: ['Europe/Berlin', 'UTC'],
        $comment: 'E_TIMEZONE',
      }),
    },
    { required: ['from', 'to', 'timezone'] },
  ),
  oneOf(['always', 'service'], { $comment: 'E_WINDOW' }),
  {
    description:
      "When the compute may be interrupted. Steps that drop connections wait for the window. With `always`, at any time; with `service`, only in the project's maintenance window.",
    examples: [{ days: ['sun'], from: '02:00', to: '04:00', timezone: 'Europe/Berlin' }, 'service', 'always'],
  },
)

type Keys = Readonly<Record<string, Schema<unknown>>>

/** Schemas of the keys of defaults, profiles and computes. Groups of attributes are maps. */
const attributeSchemas = (): Keys => {
  const keys: Record<string, JsonSchema> = {}
  const groups: Record<string, Record<string, JsonSchema>> = {}
  for (const row of ATTRIBUTE_KEYS.map(rowOf)) {
    if (row.isOwn === true) continue
    const [key = '', name] = row.path.split('.')
    if (name === undefined) {
      keys[key] = row.schema
      continue
    }
    groups[key] = { ...groups[key], [name]: row.schema }
    keys[key] = map(groups[key], ATTRIBUTE_GROUPS[key])
  }
  return { ...keys, restartWindow: RESTART_WINDOW }
}

/** Entries of `$defs`. Shared, because computes occur in five places. */
export const attributeDefinitions = (): Readonly<Record<string, JsonSchema>> => ({
  ...attributeSchemas(),
  largeNeverScalesToZero: largeNeverScalesToZero(),
})

/** References to {@link attributeDefinitions}, by key. */
export const ATTRIBUTE_PROPERTIES: Keys = Object.fromEntries(
  Object.keys(attributeSchemas()).map((key) => [key, { $ref: `#/$defs/${key}` }]),
)

/** Computes above the table's limit cannot scale to zero. */
const largeNeverScalesToZero = (): JsonSchema => {
  const large = oneOf(SIZE_TABLE.steps.map(({ cu }) => cu).filter((cu) => cu > SIZE_TABLE.scaleToZeroMaxCu))
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
