/**
 * The definition of a manifest. The TypeScript types, the published JSON Schema, the validator, the canonical order of
 * keys and the tables in docs/reference/manifest.md are all derived from it.
 */
import {
  flag,
  type JsonSchema,
  list,
  map,
  mapOr,
  named,
  number,
  oneOf,
  oneOrList,
  only,
  type Schema,
  schemaAddress,
  text,
  type ValueOf,
  when,
} from '../../base/index.ts'
import { COMPUTE_NAME_PATTERN, DURATION_PATTERN, rowOf, SIZE_TABLE, TIERS } from '../../model/index.ts'
import { ATTRIBUTE_PROPERTIES, attributeDefinitions, type RESTART_WINDOW } from './attributes.ts'
import { forEditors } from './for-editors.ts'
import { POLICY } from './policy.ts'

const protect = flag({
  default: false,
  description:
    'With `true`, a plan deletes, moves and replaces no compute on this branch, and moves none there. No flag overrides this.',
  examples: [true],
})
const id = text({
  pattern: '^ep-[a-z0-9-]{1,57}$',
  description:
    'The id of an existing compute (a pin). If it has the same type but is on another branch, it is moved to this one.',
  examples: ['ep-cool-dawn-a1b2c3'],
  $comment: 'E_PIN',
})
const name: Schema<string> = rowOf('name').schema
const renamedFrom = text({
  pattern: COMPUTE_NAME_PATTERN,
  description:
    'The previous name of the replica. A live replica with this name is renamed. Remove the key after the apply.',
  examples: ['bi'],
  $comment: 'E_NAME',
})
const profile = text({ description: 'The name of a profile in `profiles`.', examples: ['small'] })
const glob = (more: JsonSchema) => text({ minLength: 1, $comment: 'E_GLOB', ...more })

const compute = <P extends Readonly<Record<string, JsonSchema>>>(own: P, more: JsonSchema = {}) =>
  map({ ...own, ...ATTRIBUTE_PROPERTIES }, { allOf: [{ $ref: '#/$defs/largeNeverScalesToZero' }], ...more })

const DEFINITIONS = {
  attributes: compute({}),
  pinnedPrimary: compute({ id, name, profile }),
  pinnedReplica: compute({ id, renamedFrom, profile }),
  rulePrimary: compute({ name, profile }, { $comment: 'E_RULE_COMPUTE' }),
  ruleReplica: compute({ renamedFrom, profile }, { $comment: 'E_RULE_COMPUTE' }),
  policy: POLICY,
}

const ref = <N extends keyof typeof DEFINITIONS>(definition: N): (typeof DEFINITIONS)[N] =>
  ({
    $ref: `#/$defs/${definition}`,
  }) as (typeof DEFINITIONS)[N]

const orAbsent = <T>(definition: Schema<T>, more: JsonSchema = {}) =>
  mapOr(definition, only('absent', { $comment: 'E_ABSENT' }), more)

const primary = <T>(definition: Schema<T>) =>
  orAbsent(definition, {
    description: 'The read-write compute: its attributes, or `absent` if the branch must not have one.',
    examples: [{ size: 1 }, 'absent'],
  })

const NOT_EMPTY = { minLength: 1, description: 'A name that is not empty.', $comment: 'E_EMPTY' }

const replicas = <T>(definition: Schema<T>) =>
  named(orAbsent(definition, { examples: [{ size: 1 }, 'absent'] }), {
    propertyNames: {
      pattern: COMPUTE_NAME_PATTERN,
      description: 'A name of 1 to 64 characters without control characters.',
      $comment: 'E_NAME',
    },
    description: 'The read replicas, by name: the attributes of each, or `absent` if it must not exist.',
    examples: [{ reporting: { size: 2 } }, { reporting: 'absent' }],
  })

const branch = map({
  protect,
  primary: primary(ref('pinnedPrimary')),
  replicas: replicas(ref('pinnedReplica')),
})

const rule = map(
  {
    match: glob({
      description:
        'A glob for branch names. `*` matches within a path segment, `**` across segments. `?`, `[a-z]` and `{a,b}` are supported.',
      examples: ['preview/*'],
    }),
    except: list(glob({}), {
      description: 'Globs for branches that the rule does not apply to.',
      examples: [['preview/keep-*']],
    }),
    expires: flag({
      description:
        'With `true`, the rule applies only to branches that expire; with `false`, only to branches that do not. Default: both.',
      examples: [false],
    }),
    protect,
    primary: primary(ref('rulePrimary')),
    replicas: replicas(ref('ruleReplica')),
  },
  { required: ['match'] },
)

const version = only(1, { description: 'The version of this format.', examples: [1], $comment: 'E_VERSION' })

const projectId = (more: JsonSchema = {}) =>
  text({
    pattern: '^[a-z0-9-]{1,60}$',
    description: 'A project id: 1 to 60 lowercase letters, digits and hyphens.',
    $comment: 'E_PROJECT',
    ...more,
  })
const EXAMPLE_PROJECT = 'quiet-river-12345678'

const waves = list(
  map(
    {
      name: text({ minLength: 1, description: 'The name of the wave.', examples: ['canary'] }),
      projects: list(glob({}), {
        minItems: 1,
        description: 'Project ids or globs.',
        examples: [[EXAMPLE_PROJECT, 'eu-*']],
      }),
    },
    { required: ['name', 'projects'] },
  ),
  {
    description:
      'The order in which groups of projects are applied. A wave starts only when all planned steps of the earlier waves are done. A project belongs to the first wave that matches it; projects that belong to no wave come last. Only one document or shared file can define waves.',
    examples: [[{ name: 'canary', projects: [EXAMPLE_PROJECT] }]],
  },
)

const price = map(
  {
    cuHour: number({
      exclusiveMinimum: 0,
      maximum: 100,
      description: 'The price of one CU-hour.',
      examples: [0.222],
    }),
    currency: text({
      pattern: '^[A-Z]{3}$',
      description: 'The currency code: three capital letters.',
      examples: ['USD'],
      $comment: 'E_CURRENCY',
    }),
  },
  {
    required: ['cuHour', 'currency'],
    description: 'The price used to convert CU-hours to money.',
    examples: [{ cuHour: 0.222, currency: 'USD' }],
  },
)

/** Keys that are allowed both in documents and in shared files. */
const SHAREABLE = {
  restartWindow: {
    $ref: '#/$defs/restartWindow',
    description: 'When computes may be interrupted. `defaults`, a profile or a compute can override this.',
  } as Schema<ValueOf<typeof RESTART_WINDOW>>,
  prune: flag({
    default: false,
    description: 'With `true`, undeclared computes on declared branches are deleted.',
    examples: [false],
  }),
  skipExpiring: text({
    pattern: DURATION_PATTERN,
    default: '1h',
    description:
      'If a branch expires within this time, changes that would interrupt its connections, except moves to another branch, are skipped. With `0s`, none are.',
    examples: ['1h'],
    $comment: 'E_POLICY_DURATION',
  }),
  price,
  tier: oneOf([...TIERS.map(({ name }) => name), 'none'], {
    description:
      "The account plan whose limits are checked. `none` disables the checks. Default: the account's own plan.",
    examples: ['scale'],
  }),
  policy: list(ref('policy'), {
    description: 'Policies for the projects of this document, in addition to `espalier.policy.yaml`.',
    examples: [[{ name: 'small', level: 'deny', reason: 'Previews are small.', rule: { maxSize: 1 } }]],
  }),
  parkOn: text({
    description:
      'The name or id of a branch without a primary. If primaries swap branches, one of them waits there in the meantime.',
    examples: ['parking'],
  }),
  defaults: {
    ...ref('attributes'),
    description: 'Default attributes of all computes.',
    examples: [{ scaleToZero: '5m' }],
  },
  profiles: named(ref('attributes'), {
    propertyNames: NOT_EMPTY,
    description: 'Named sets of attributes. A profile overrides the defaults, and a compute overrides its profile.',
    examples: [{ small: { size: 0.25, scaleToZero: '1m' } }],
  }),
  branches: named(branch, {
    propertyNames: NOT_EMPTY,
    description: 'The branches to manage. Each key is the name or the id (br-…) of a branch.',
    examples: [{ main: { primary: { size: 1 } } }],
  }),
  rules: list(rule, {
    description:
      'Declarations for all branches that match a glob. The first matching rule applies. Rules do not apply to branches listed under `branches`.',
    examples: [[{ match: 'preview/*', primary: { size: 0.25 } }]],
  }),
  waves,
}

/** A document: declares the computes of one project, or of several similar ones. */
const DOCUMENT = map(
  {
    version,
    project: projectId({
      description: 'The id of the project (not its name). Either `project` or `projects` is required.',
      examples: [EXAMPLE_PROJECT],
    }),
    projects: list(projectId(), {
      minItems: 1,
      description: 'The ids of several projects that the document applies to.',
      examples: [[EXAMPLE_PROJECT, 'calm-lake-87654321']],
    }),
    extends: oneOrList(text(), {
      description:
        'A shared file or a list of shared files. Paths are relative to this file and must stay inside the current folder.',
      examples: ['../platform.yaml', ['../platform.yaml', '../eu.yaml']],
    }),
    ...SHAREABLE,
  },
  {
    required: ['version'],
    allOf: [
      when(
        { type: 'object', properties: { projects: {} }, required: ['projects'] },
        { type: 'object', properties: { project: { not: {}, $comment: 'E_PROJECT_AND_PROJECTS' } } },
        { type: 'object', properties: { project: { examples: [EXAMPLE_PROJECT] } }, required: ['project'] },
      ),
    ],
  },
)

/** A shared file, which manifests extend. It names no project, so by itself it declares nothing. */
const SHARED = map({ version, ...SHAREABLE })

export type ManifestValue = ValueOf<typeof DOCUMENT>
export type SharedValue = ValueOf<typeof SHARED>
export type BranchValue = ValueOf<typeof branch>
export type RuleValue = ValueOf<typeof rule>
/** Defaults, profiles and computes. The attribute table defines the values. */
export type AttributesValue = Readonly<Record<string, unknown>> & { readonly restartWindow?: WindowValue }
export type ComputeValue = AttributesValue & { readonly [K in 'id' | 'renamedFrom' | 'name' | 'profile']?: string }
export type WindowValue = ValueOf<typeof RESTART_WINDOW>

export type WavesValue = ValueOf<typeof waves>

export const SHAREABLE_KEYS: readonly string[] = Object.keys(SHAREABLE)

const $schema = 'https://json-schema.org/draft/2020-12/schema'
const $id = schemaAddress('manifest')

const definitions = (): JsonSchema => ({ ...DEFINITIONS, ...attributeDefinitions() })

export const documentSchema = (): JsonSchema => ({
  $schema,
  $id,
  title: 'Espalier manifest',
  description:
    'The Postgres computes that each branch of a project should have. Settings that are left out are not managed.',
  ...DOCUMENT,
  $defs: definitions(),
})

/** A file that manifests extend. */
export const sharedFileSchema = (): JsonSchema => ({
  $schema,
  $id: schemaAddress('shared'),
  title: 'Espalier shared file',
  description: 'Settings that several manifests share through `extends`.',
  ...SHARED,
  $defs: definitions(),
})

/** The published schema of a document. */
export const manifestSchema = (): JsonSchema => forEditors(withEnumeratedRanges(documentSchema()))

/** The published schema of a shared file. */
export const sharedSchema = (): JsonSchema => forEditors(withEnumeratedRanges(sharedFileSchema()))

/** Replaces the keyword with a condition for each minimum, because JSON Schema cannot subtract. */
const withEnumeratedRanges = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'allOf' && JSON.stringify(value).includes('"sizeRange"') ? rangesOf() : value,
  ) as JsonSchema

const rangesOf = (): readonly JsonSchema[] => {
  const { steps, autoscalingMaxCu, maxSpreadCu } = SIZE_TABLE
  const sizes = steps.map(({ cu }) => cu)
  return sizes.map((min) => {
    const maxima = sizes.filter(
      (max) => max === min || (max > min && max <= autoscalingMaxCu && max - min <= maxSpreadCu),
    )
    return when({ properties: { min: { const: min } }, required: ['min'] }, { properties: { max: oneOf(maxima) } })
  })
}
