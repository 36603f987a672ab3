/** The world to start from, as a person writes it: the vocabulary is the manifest's. */
import { z } from 'zod'
import { parseDuration, SCALE_TO_ZERO_DEFAULT, SCALE_TO_ZERO_NEVER, schemaAddress } from '../../model/index.ts'
import { pgSettings } from '../world/compute-request.ts'
import { checkProject, checkProjects } from './check-seed.ts'

const SCALE_TO_ZERO: Readonly<Record<string, number>> = { default: SCALE_TO_ZERO_DEFAULT, never: SCALE_TO_ZERO_NEVER }

const size = z
  .union([z.number(), z.strictObject({ min: z.number(), max: z.number() })], {
    error: 'a number of compute units, or {min, max}',
  })
  .transform((value) => (typeof value === 'number' ? { min: value, max: value } : value))

const SCALE_TO_ZERO_FORMS = '`default`, `never` or a duration with its unit, such as 5m'
const scaleToZero = z.string({ error: SCALE_TO_ZERO_FORMS }).transform((text, context) => {
  const seconds = Object.hasOwn(SCALE_TO_ZERO, text) ? SCALE_TO_ZERO[text] : parseDuration(text)
  if (seconds !== undefined) return seconds
  context.addIssue(SCALE_TO_ZERO_FORMS)
  return z.NEVER
})

const compute = z.strictObject({
  id: z
    .string()
    .regex(/^ep-[a-z0-9-]{1,57}$/)
    .optional(),
  type: z.enum(['read_write', 'read_only']).default('read_write'),
  name: z.string().min(1).max(64).optional(),
  size: size.default({ min: 0.25, max: 0.25 }),
  scaleToZero: scaleToZero.default(SCALE_TO_ZERO_DEFAULT),
  state: z.enum(['active', 'idle']).default('active'),
  disabled: z.boolean().default(false),
  postgres: z
    .strictObject({ settings: pgSettings.default({}), preload: z.array(z.string()).optional() })
    .default({ settings: {} }),
})

const branch = z.strictObject({
  id: z
    .string()
    .regex(/^br-[a-z0-9-]{1,57}$/)
    .optional(),
  name: z.string().min(1).max(256),
  default: z.boolean().default(false),
  protected: z.boolean().default(false),
  /** A branch named earlier. */
  parent: z.string().optional(),
  computes: z.array(compute).default([]),
})

const KEY_LENGTH = { error: 'a key has 8 to 256 characters' }
const keyText = { key: z.string().min(8, KEY_LENGTH).max(256, KEY_LENGTH), revoked: z.boolean().default(false) }
const orgId = z.string().regex(/^org-[a-z0-9-]{1,56}$/)

/** Keys besides the sandbox's own, which may do everything. */
const key = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('personal'), ...keyText }),
  z.strictObject({ kind: z.literal('organization'), org: orgId, ...keyText }),
  z.strictObject({ kind: z.literal('project'), project: z.string(), ...keyText }),
])

const project = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9-]{1,60}$/),
    name: z.string().optional(),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,60}$/)
      .default('aws-eu-central-1'),
    plan: z.enum(['free', 'paid']).default('paid'),
    /** The organization that it belongs to. */
    org: orgId.optional(),
    /** What a new compute has where its request does not say. */
    defaults: z
      .strictObject({
        size: size.default({ min: 0.25, max: 2 }),
        scaleToZero: scaleToZero.default(SCALE_TO_ZERO_DEFAULT),
      })
      .default({ size: { min: 0.25, max: 2 }, scaleToZero: SCALE_TO_ZERO_DEFAULT }),
    branches: z.array(branch).min(1),
    /** When the next service update is due. Nothing happens then. */
    maintenance: z.iso.datetime().optional(),
    /** How many finished operations its past holds. */
    operations: z.int().min(0).max(10_000).default(0),
  })
  .superRefine(checkProject)

export const seedShape = z.strictObject({
  projects: z.array(project).superRefine(checkProjects),
  keys: z.array(key).default([]),
})

/** What a seed file says. */
export type Seed = z.input<typeof seedShape>
/** With every default filled in. */
export type ResolvedSeed = z.output<typeof seedShape>

/** The JSON Schema (2020-12) of a seed file. */
export const seedSchema = (): object => ({
  ...z.toJSONSchema(seedShape, { io: 'input', target: 'draft-2020-12' }),
  $id: schemaAddress('seed'),
  title: 'A seed of `espalier sandbox`: the projects to start from',
})
