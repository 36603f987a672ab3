/** What a manifest can say of a compute: one row an attribute. */
import {
  flag,
  type JsonSchema,
  list,
  map,
  mapOr,
  named,
  oneOf,
  only,
  type Schema,
  text,
  when,
} from '../../base/index.ts'
import { type SizeTable, WEEKDAYS } from '../../model/index.ts'

export const sizeDefinition = (table: SizeTable) => {
  const steps = table.steps.map(({ cu }) => cu)
  const step = (description: string): Schema<number> =>
    oneOf(steps, { description, examples: [steps[0]], $comment: 'E_SIZE_STEP' })
  // Which `max` each `min` allows: the steps are few enough to say so one by one.
  const spread = steps.map((min) =>
    when(
      { type: 'object', properties: { min: { const: min } }, required: ['min'] },
      {
        type: 'object',
        properties: {
          max: oneOf(
            steps.filter(
              (max) => max === min || (max > min && max <= table.autoscalingMaxCu && max - min <= table.maxSpreadCu),
            ),
            { $comment: 'E_SPREAD' },
          ),
        },
      },
    ),
  )
  return mapOr(
    map(
      { min: step('Minimum size, in CU.'), max: step('Maximum size, in CU.') },
      { required: ['min', 'max'], allOf: spread },
    ),
    step('A fixed size, in CU.'),
    {
      description: `Compute units (CU; 1 CU is 4 GB of RAM). A number is a fixed size. { min, max } is an autoscaling range, up to ${table.autoscalingMaxCu} CU and at most ${table.maxSpreadCu} CU wide.`,
      examples: [0.25, 2, { min: 1, max: 8 }],
    },
  )
}

/** Above the table's limit a compute never scales to zero. */
export const largeNeverScalesToZero = (table: SizeTable): JsonSchema => {
  const large = table.steps.filter(({ cu }) => cu > table.scaleToZeroMaxCu)
  const sizes = large.flatMap(({ cu }): unknown[] => [cu, { min: cu, max: cu }])
  return when(
    sizes.length === 0 ? { not: {} } : { type: 'object', properties: { size: { enum: sizes } }, required: ['size'] },
    {
      type: 'object',
      properties: { scaleToZero: { const: 'never', $comment: 'E_SCALE_TO_ZERO_SIZE' } },
    },
  )
}

/** The length of a duration is checked apart: what `1h90m` comes to, a pattern cannot say. */
export const SCALE_TO_ZERO = text({
  pattern: '^(default|never|(?=.)(\\d{1,7}d)?(\\d{1,7}h)?(\\d{1,7}m)?(\\d{1,7}s)?)$',
  description:
    'Suspend the compute after this time without a connection: a duration from 1m to 7d, `default` (5m) or `never`.',
  examples: ['5m', '1h30m', 'never', 'default'],
  $comment: 'E_DURATION',
})

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
        description: 'When it opens, in the time zone.',
        examples: ['02:00'],
        $comment: 'E_TIME',
      }),
      to: text({
        pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
        description: 'When it closes. A time before `from` is on the next day.',
        examples: ['04:00', '24:00'],
        $comment: 'E_TIME',
      }),
      timezone: text({
        pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
        description: 'The time zone, by its IANA name.',
        examples: ['Europe/Berlin', 'UTC'],
        $comment: 'E_TIMEZONE',
      }),
    },
    { required: ['from', 'to', 'timezone'] },
  ),
  only('always', { $comment: 'E_WINDOW' }),
  {
    description:
      'When the compute may be interrupted. Steps that drop connections wait for the window. `always`: no window.',
    examples: [{ days: ['sun'], from: '02:00', to: '04:00', timezone: 'Europe/Berlin' }, 'always'],
  },
)

const POOLER = map(
  {
    enabled: flag({ description: 'The API’s `pooler_enabled`.', examples: [true] }),
    mode: only('transaction', { description: 'The API’s `pooler_mode`.', examples: ['transaction'] }),
  },
  { description: 'Connection pooling.', examples: [{ enabled: true }] },
)

const PLAIN: Schema<string | number | boolean> = {
  not: { anyOf: [{ type: 'object' }, { type: 'array' }, { type: 'null' }] },
  $comment: 'E_SETTING',
}

const POSTGRES = map(
  {
    settings: named(PLAIN, {
      description: 'Postgres settings. Settings not listed keep their value.',
      examples: [{ work_mem: '64MB' }],
    }),
    preload: list(text(), {
      description: 'The libraries to preload: the whole list.',
      examples: [['pg_stat_statements']],
    }),
  },
  { $comment: 'E_POSTGRES', description: 'Postgres itself.', examples: [{ settings: { work_mem: '64MB' } }] },
)

/** Where an attribute can stand: its key, and the schema of its value. */
export const ATTRIBUTES_IN_MANIFEST = {
  size: { $ref: '#/$defs/size' } as Schema<number | { readonly min: number; readonly max: number }>,
  scaleToZero: { $ref: '#/$defs/scaleToZero' } as typeof SCALE_TO_ZERO,
  disabled: flag({ description: 'A disabled compute is suspended and cannot be started.', examples: [false] }),
  pooler: POOLER,
  passwordlessAccess: flag({ description: 'The API’s `passwordless_access`.', examples: [false] }),
  postgres: POSTGRES,
  restartWindow: { $ref: '#/$defs/restartWindow' } as typeof RESTART_WINDOW,
}
