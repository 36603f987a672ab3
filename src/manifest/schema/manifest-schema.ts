/** The format as plain JSON Schema 2020-12, generated from the size table: an editor shows every rule that one document can break. */
import { SIZE_TABLE, type SizeTable, WEEKDAYS } from '../../model/index.ts'

type Schema = Record<string, unknown>

const map = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
})

/** The schema of a manifest document that names a project. */
export const manifestSchema = (table: SizeTable = SIZE_TABLE): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://espalier.dev/schemas/manifest.schema.json',
  title: 'Espalier manifest',
  description: 'Which Postgres computes each branch of one project should have. What is left out is not managed.',
  ...map(
    {
      version: { const: 1, description: 'The version of this format.', examples: [1] },
      project: {
        type: 'string',
        pattern: '^[a-z0-9-]{1,60}$',
        description: 'The id of the project (not its name).',
        examples: ['quiet-river-12345678'],
      },
      extends: {
        type: 'string',
        description: 'A file of defaults and profiles only, relative to this one, inside the same tree.',
        examples: ['../platform.yaml'],
      },
      restartWindow: {
        ...ref('restartWindow'),
        description: 'When computes of this document may be interrupted, where nothing below says otherwise.',
      },
      defaults: {
        ...ref('attributes'),
        description: 'Attributes under every compute of this document.',
        examples: [{ scaleToZero: '5m' }],
      },
      profiles: {
        type: 'object',
        additionalProperties: ref('attributes'),
        description: 'Named sets of attributes. They lie over the defaults and under a compute’s own.',
        examples: [{ small: { size: 0.25, scaleToZero: '1m' } }],
      },
      branches: {
        type: 'object',
        additionalProperties: ref('branch'),
        description: 'Declared branches, by name or by id (br-…).',
        examples: [{ main: { primary: { size: 1 } } }],
      },
      rules: {
        type: 'array',
        items: ref('rule'),
        description: 'For branches that come and go. The first match wins; a branch under `branches` is never matched.',
        examples: [[{ match: 'preview/*', primary: { size: 0.25 } }]],
      },
      prune: {
        type: 'boolean',
        default: false,
        description: 'Whether computes on declared branches that no declaration claims are to be deleted.',
        examples: [false],
      },
      parkOn: {
        type: 'string',
        description: 'A branch without a primary, by name or id, on which one may wait while two swap their places.',
        examples: ['parking'],
      },
    },
    { required: ['version', 'project'] },
  ),
  $defs: {
    branch: map({ protect, primary: primary('primary'), replicas: replicas('replica') }),
    rule: map(
      {
        match: {
          type: 'string',
          minLength: 1,
          description: 'Glob over branch names: * within a segment, ** across, ?, [a-z], {a,b}.',
          examples: ['preview/*'],
        },
        except: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'Globs of branches that it is not for.',
          examples: [['preview/keep-*']],
        },
        protect,
        primary: primary('rulePrimary'),
        replicas: replicas('attributesWithProfile'),
      },
      { required: ['match'] },
    ),
    primary: compute({ id: pin, name, profile }),
    rulePrimary: compute({ name, profile }),
    replica: compute({ id: pin, profile }),
    attributesWithProfile: compute({ profile }),
    attributes: compute({}),
    size: sizeSchema(table),
    scaleToZero: {
      type: 'string',
      anyOf: [{ enum: ['default', 'never'] }, { pattern: '^(?=.)(\\d{1,7}d)?(\\d{1,7}h)?(\\d{1,7}m)?(\\d{1,7}s)?$' }],
      description:
        'How long nobody must have been connected before the compute is suspended: default (5m), never, or 1m to 7d.',
      examples: ['5m', '1h30m', 'never', 'default'],
    },
    restartWindow: {
      description: 'When it may be interrupted: steps that drop connections wait for it. `always`: at any time.',
      examples: [{ days: ['sun'], from: '02:00', to: '04:00', timezone: 'Europe/Berlin' }, 'always'],
      anyOf: [{ const: 'always' }, restartWindow],
    },
    largeNeverScalesToZero: {
      if: { properties: { size: oneOf(largeSizes(table)) }, required: ['size'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { scaleToZero: { const: 'never' } } },
    },
  },
})

const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` })

const protect: Schema = {
  type: 'boolean',
  default: false,
  description: 'Nothing here may be deleted, moved or replaced, whatever the flags.',
  examples: [true],
}
const pin: Schema = {
  type: 'string',
  pattern: '^ep-[a-z0-9-]{1,57}$',
  description: 'A pin: this very compute, wherever it lives now. On another branch it means: move it here.',
  examples: ['ep-cool-dawn-a1b2c3'],
}
const name: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'The name that the console shows.',
  examples: ['primary'],
}
const profile: Schema = { type: 'string', description: 'One of `profiles`.', examples: ['small'] }

const primary = (definition: string): Schema => ({
  description: 'The read-write compute: its attributes, or `absent` where there is to be none.',
  examples: [{ size: 1 }, 'absent'],
  anyOf: [{ const: 'absent' }, ref(definition)],
})

const replicas = (definition: string): Schema => ({
  type: 'object',
  propertyNames: { minLength: 1, maxLength: 64 },
  additionalProperties: ref(definition),
  description: 'Read replicas, by the name that they have.',
  examples: [{ reporting: { size: 2 } }],
})

const compute = (own: Record<string, Schema>): Schema =>
  map(
    {
      ...own,
      size: ref('size'),
      scaleToZero: ref('scaleToZero'),
      disabled: {
        type: 'boolean',
        description: 'A disabled compute is suspended and cannot be started.',
        examples: [false],
      },
      pooler: map(
        {
          enabled: { type: 'boolean', description: 'The API’s pooler_enabled.', examples: [true] },
          mode: { const: 'transaction', description: 'The API’s pooler_mode.', examples: ['transaction'] },
        },
        { description: 'Connection pooling.', examples: [{ enabled: true }] },
      ),
      restartWindow: ref('restartWindow'),
      passwordlessAccess: { type: 'boolean', description: 'The API’s passwordless_access.', examples: [false] },
      postgres: map(
        {
          settings: {
            type: 'object',
            additionalProperties: { type: ['string', 'number', 'boolean'] },
            description: 'Postgres settings. Those not named here stay as they are.',
            examples: [{ work_mem: '64MB' }],
          },
          preload: {
            type: 'array',
            items: { type: 'string' },
            description: 'Libraries to preload, all of them.',
            examples: [['pg_stat_statements']],
          },
        },
        { description: 'Postgres itself.', examples: [{ settings: { work_mem: '64MB' } }] },
      ),
    },
    { allOf: [ref('largeNeverScalesToZero')], examples: [{ size: 1, scaleToZero: '5m' }] },
  )

const restartWindow = map(
  {
    days: {
      type: 'array',
      items: { enum: WEEKDAYS },
      minItems: 1,
      description: 'The days on which it opens; left out: every day.',
      examples: [['sat', 'sun']],
    },
    from: {
      type: 'string',
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
      description: 'When it opens, by the clock of the time zone.',
      examples: ['02:00'],
    },
    to: {
      type: 'string',
      pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
      description: 'When it closes; before `from` it is on the next day.',
      examples: ['04:00', '24:00'],
    },
    timezone: {
      type: 'string',
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
      description: 'IANA name of the time zone.',
      examples: ['Europe/Berlin', 'UTC'],
    },
  },
  { required: ['from', 'to', 'timezone'] },
)

const largeSizes = (table: SizeTable): readonly unknown[] =>
  table.steps.filter(({ cu }) => cu > table.scaleToZeroMaxCu).flatMap(({ cu }) => [cu, { min: cu, max: cu }])

/** An `enum` must not be empty: a table may hold small sizes only. */
const oneOf = (values: readonly unknown[]): Schema | false => (values.length === 0 ? false : { enum: values })

/** The steps are few enough to say for each `min` which `max` it allows. */
const sizeSchema = (table: SizeTable): Schema => {
  const steps = table.steps.map(({ cu }) => cu)
  const ranges = steps.map((min) => ({
    properties: {
      min: { const: min },
      max: {
        enum: steps.filter(
          (max) => max === min || (max > min && max <= table.autoscalingMaxCu && max - min <= table.maxSpreadCu),
        ),
      },
    },
  }))
  return {
    description: `Compute units (CU; 1 CU is 4 GB of RAM). A number is a fixed size; { min, max } scales between the two: up to ${table.autoscalingMaxCu} CU, at most ${table.maxSpreadCu} apart.`,
    examples: [0.25, 2, { min: 1, max: 8 }],
    anyOf: [
      { enum: steps },
      {
        type: 'object',
        required: ['min', 'max'],
        properties: { min: true, max: true },
        additionalProperties: false,
        anyOf: ranges,
      },
    ],
  }
}
