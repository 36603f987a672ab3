/** Zod schemas for plans. Plan files are checked with them, and `schemas/` is generated from them. */
import { z } from 'zod'
import { schemaAddress } from '../base/index.ts'
import {
  CHANGE_KINDS,
  CONSENTS,
  COST_FLAGS,
  type Diagnostic,
  EFFECT_KINDS,
  HOURS_PER_MONTH,
  IMPACTS,
  PLAN_FORMAT_VERSION,
  type Plan,
  type PlanCost,
  type PlanPolicies,
  POLICY_OUTCOMES,
  POLICY_RULE_NAMES,
  REASONS,
  type Reason,
  shapesByField,
  WEEKDAYS,
} from '../model/index.ts'
import { FINGERPRINT, seenShape } from './saved/recorded-state.ts'

const amount = z.number().nullable()
const costRange = { low: amount, expected: amount, high: amount }
const costTotal = z.strictObject({ ...costRange, unknown: z.int().nonnegative() })
const money = z.strictObject({
  price: z.strictObject({ cuHour: z.number(), currency: z.string() }),
  ...costRange,
})
const costs = { delta: costTotal, money: money.exactOptional() }

const planCostShape = z.strictObject({
  model: z.literal('2'),
  hoursPerMonth: z.literal(HOURS_PER_MONTH),
  total: z.strictObject(costs),
  introduced: z.strictObject(costs).exactOptional(),
  drift: z.strictObject(costs).exactOptional(),
  projects: z.array(z.strictObject({ project: z.string(), ...costs })),
  computes: z.array(
    z.strictObject({
      change: z.string(),
      delta: z.strictObject(costRange),
      basis: z.strictObject({
        kind: z.enum(['measured', 'settings', 'unknown']),
        activeHoursPerDay: amount,
        since: z.string().nullable(),
        averageCu: amount,
        flags: z.array(z.enum(COST_FLAGS)),
      }),
      sentence: z.string(),
    }),
  ),
}) satisfies z.ZodType<PlanCost>

const planPoliciesShape = z.strictObject({
  files: z.array(z.string()),
  ref: z.string().exactOptional(),
  results: z.array(
    z.strictObject({
      policy: z.string(),
      rule: z.enum(POLICY_RULE_NAMES),
      level: z.enum(['warn', 'deny']),
      outcome: z.enum(POLICY_OUTCOMES),
      project: z.string().exactOptional(),
      branch: z.string().exactOptional(),
      compute: z.string().exactOptional(),
      message: z.string(),
      reason: z.string(),
      override: z.string().exactOptional(),
      overriddenBy: z.string().exactOptional(),
    }),
  ),
  changes: z.array(z.string()),
}) satisfies z.ZodType<PlanPolicies>

const source = z.strictObject({
  file: z.string(),
  line: z.int().positive(),
  column: z.int().positive(),
  length: z.int().positive(),
})
const branch = z.strictObject({ id: z.string(), name: z.string() })
const type = z.enum(['read_write', 'read_only'])
const size = z.strictObject({ min: z.number().positive(), max: z.number().positive() })
const impact = z.enum(IMPACTS)
const reason = z.enum(Object.keys(REASONS) as [Reason, ...Reason[]])
const capacity = z.strictObject({ size, ramGb: z.number(), maxConnections: z.number() })
const total = z.strictObject({
  computes: z.number(),
  minCu: z.number(),
  maxCu: z.number(),
  ramGb: z.number(),
  maxConnections: z.number(),
})

const COMMIT = z.string().regex(/^[0-9a-f]{40,64}$/)
const REQUEST_PATH = /^\/projects\/[a-z0-9-]{1,60}\/endpoints(\/[a-z0-9-]{1,60})?$/

export const window = z.strictObject({
  days: z.array(z.enum(WEEKDAYS)),
  from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  to: z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/),
  timezone: z.string().regex(/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/),
})

const compute = z.strictObject({
  type,
  name: z.string().exactOptional(),
  id: z.string().exactOptional(),
  host: z.string().exactOptional(),
  state: z.string().exactOptional(),
})

const attributeValue = z.union([z.string(), z.number(), z.boolean(), size, z.array(z.string())])

const attribute = z.strictObject({
  path: z.string(),
  before: attributeValue.exactOptional(),
  after: attributeValue,
  beforeText: z.string().exactOptional(),
  afterText: z.string(),
  impact,
  rule: z.string(),
  source: source.exactOptional(),
})

const effect = z.strictObject({
  kind: z.enum(EFFECT_KINDS),
  before: attributeValue,
  after: attributeValue,
  when: z.enum(['now', 'later']),
  warns: z.literal(true).exactOptional(),
})

const change = z.strictObject({
  id: z.string(),
  kind: z.enum(CHANGE_KINDS),
  project: z.string(),
  branch,
  from: branch.exactOptional(),
  compute,
  attributes: z.array(attribute),
  effects: z.array(effect),
  impact,
  unlessIdle: impact.exactOptional(),
  reasons: z.array(reason),
  refused: z.string().exactOptional(),
  isDenied: z.literal(true).exactOptional(),
  windows: z.array(window).exactOptional(),
  before: capacity.exactOptional(),
  after: capacity.exactOptional(),
  source: source.exactOptional(),
})

/** The `settings` of the API, including parts that Espalier does not know. */
export const settingsShape = z.looseObject({
  pg_settings: z.record(z.string(), z.string()).exactOptional(),
  preload_libraries: z
    .looseObject({ use_defaults: z.boolean().exactOptional(), enabled_libraries: z.array(z.string()).exactOptional() })
    .exactOptional(),
})

const endpoint = z.strictObject({
  branch_id: z.string().exactOptional(),
  type: type.exactOptional(),
  ...shapesByField({
    text: z.string().exactOptional(),
    flag: z.boolean().exactOptional(),
    seconds: z.int().exactOptional(),
    cu: z.number().exactOptional(),
    settings: settingsShape.exactOptional(),
  }),
})

export const step = z.strictObject({
  id: z.string(),
  change: z.string(),
  kind: z.enum(['create', 'update', 'move', 'delete']),
  project: z.string(),
  branch,
  compute,
  request: z.strictObject({
    method: z.enum(['POST', 'PATCH', 'DELETE']),
    path: z.string().regex(REQUEST_PATH),
    body: z.strictObject({ endpoint }).exactOptional(),
  }),
  impact,
  unlessIdle: impact.exactOptional(),
  consents: z.array(z.enum(CONSENTS)),
  refused: z.string().exactOptional(),
  windows: z.array(window).exactOptional(),
  reason,
  rule: z.string(),
  source: source.exactOptional(),
  after: z.array(z.string()),
  inTurnAfter: z.array(z.string()).exactOptional(),
  actions: z.array(z.string()),
})

const diagnostic = z.strictObject({
  severity: z.enum(['error', 'warning']),
  // Any code is accepted, because a later version of Espalier may have written the plan.
  code: z.string().regex(/^[EW](_[A-Z0-9]+)+$/) as z.ZodType<Diagnostic['code'], string>,
  message: z.string(),
  hint: z.string().exactOptional(),
  source: source.exactOptional(),
})

const listOf = <Fields extends z.ZodRawShape>(fields: Fields) => z.array(z.strictObject(fields))

export const count = z.int().nonnegative()
const unmanaged = z.strictObject({
  project: z.string(),
  branch,
  compute,
  size: size.exactOptional(),
  disabled: z.literal(true).exactOptional(),
})

const selection = z.strictObject({
  projects: z.array(z.string()).exactOptional(),
  branches: z.array(z.string()).exactOptional(),
  wave: z.string().exactOptional(),
  introducedSince: COMMIT.exactOptional(),
  changes: z.array(z.string()).exactOptional(),
  leftOut: z.strictObject({ projects: count, changes: count, dependent: count }),
  included: z.array(z.string()).exactOptional(),
})

/** The fields of a sentence about a change. */
const note = { change: z.string(), project: z.string(), sentence: z.string() }

export const planShape = z.strictObject({
  formatVersion: z.literal(PLAN_FORMAT_VERSION),
  projects: z.array(z.string()),
  projectNames: z.record(z.string(), z.string()).exactOptional(),
  leftOut: listOf({ project: z.string(), diagnostics: z.array(diagnostic) }).exactOptional(),
  waves: listOf({ name: z.string(), projects: z.array(z.string()) }).exactOptional(),
  selection: selection.exactOptional(),
  changes: z.array(change),
  steps: z.array(step),
  unmanaged: z.array(unmanaged),
  estimates: listOf({ project: z.string(), medianMs: z.number(), p95Ms: z.number(), samples: count }),
  summary: z.strictObject({
    create: count,
    update: count,
    move: count,
    replace: count,
    delete: count,
    restarts: count,
    mayRestart: count,
    disconnects: count,
    refused: count,
    unmanaged: count,
    managed: count,
    capacity: z.strictObject({ before: total, after: total }),
    calls: count,
  }),
  warnings: z.array(diagnostic),
  skipped: listOf({ ...note, kind: z.enum(CHANGE_KINDS), branch, compute }).exactOptional(),
  expiring: listOf({ ...note, expiresAt: z.string() }).exactOptional(),
  cost: planCostShape.exactOptional(),
  policies: planPoliciesShape.exactOptional(),
  maintenance: listOf({ ...note, scheduledFor: z.string() }).exactOptional(),
}) satisfies z.ZodType<Plan>

export const planFileShape = z.strictObject({
  kind: z.literal('espalier-plan'),
  formatVersion: z.literal(PLAN_FORMAT_VERSION),
  espalier: z.string(),
  createdAt: z.iso.datetime(),
  /** The SHA-256 hash of the manifests. */
  manifestDigest: FINGERPRINT,
  /** The paths of the manifests as they were given, so that `apply FILE` can find them. */
  manifests: z.array(z.string()).exactOptional(),
  /** The Action's input `label`, which distinguishes the plan from other plans of the same workflow. */
  label: z.string().exactOptional(),
  /** A fingerprint of the live settings that the plan keeps because they are not declared. */
  keptSettings: FINGERPRINT,
  /** What was recorded about the live projects when the plan was made, by project id. */
  seen: seenShape,
  plan: planShape,
  /** The SHA-256 hash of the document without this field, as JSON with sorted keys. */
  digest: FINGERPRINT,
})

/** A plan in the form that `plan --out` writes. */
export type PlanFile = z.infer<typeof planFileShape>

/** Converts to the JSON Schema that is published in `schemas/`. */
export const published = (shape: z.ZodType, name: string, title: string): object => ({
  ...z.toJSONSchema(shape, { target: 'draft-2020-12' }),
  $id: schemaAddress(name),
  title,
})

const changes = z.array(change)

/** A plan in the form that `plan --format json` prints. */
const printedPlanShape = planShape.extend({
  /** Which changes are introduced, and which correct drift. Only present if `--base` was given. */
  origin: z
    .object({
      base: z.string(),
      introduced: changes,
      drift: changes,
      settled: changes,
      released: z.array(
        z.discriminatedUnion('kind', [
          unmanaged.extend({ kind: z.literal('compute'), source }),
          z.strictObject({
            kind: z.literal('attribute'),
            project: z.string(),
            branch,
            compute,
            path: z.string(),
            live: attributeValue,
            liveText: z.string(),
            undo: z.string().exactOptional(),
            isDefault: z.literal(true).exactOptional(),
            source,
          }),
          z.strictObject({
            kind: z.literal('safeguard'),
            project: z.string(),
            branch: branch.extend({ id: z.string().exactOptional() }),
            safeguard: z.enum(['protect', 'prune', 'restartWindow', 'policy']),
            compute: compute.exactOptional(),
            before: z.string(),
            after: z.string(),
          }),
        ]),
      ),
      gaps: z.array(z.string()).exactOptional(),
    })
    .exactOptional(),
})

export const planSchema = (): object =>
  published(printedPlanShape, 'plan', 'A plan, as `espalier plan --format json` prints it')
export const planFileSchema = (): object =>
  published(planFileShape, 'plan-file', 'A saved plan, as `espalier plan --out` writes it')
