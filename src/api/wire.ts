/**
 * Parses the API's responses. Unknown fields, states and actions are accepted, and null equals absent. Missing required
 * fields and invalid ids, sizes or types of computes are errors. Each `error` names the expected value; odd-values.ts
 * turns it into a message.
 */
import { z } from 'zod'
import { onceEach, plainText } from '../base/index.ts'
import {
  attributesFromWire,
  type BranchUsage,
  ID,
  type ObservedBranch,
  type ObservedCompute,
  shapesByField,
  type WireAttributes,
  type WireSettings,
} from '../model/index.ts'

const text = z.string({ error: 'a string' })
const flag = z.boolean({ error: 'true or false' })
const count = z.number({ error: 'a number' })
const list = <T extends z.ZodType>(of: T) => z.array(of, { error: 'a list' })
/** Drops unknown fields, because copying them takes a third of the time for a large response. */
const object = <T extends z.core.$ZodLooseShape>(shape: T) => z.object(shape, { error: 'an object' })
/** Keeps unknown fields, because a request must send them back. */
const openObject = <T extends z.core.$ZodLooseShape>(shape: T) => z.looseObject(shape, { error: 'an object' })
const patterned = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error })

/** Strict, because ids become part of request paths. */
const id = patterned(ID, 'an id (1 to 60 lower-case letters, digits and hyphens)')
/** A UUID according to the API reference, but other plain ids are accepted too. */
const operationId = patterned(/^[A-Za-z0-9-]{1,60}$/, 'an id (a UUID)')

/** New sizes may appear, but values far outside the known range are errors. */
const SIZE = 'a size from 0.01 to 10000 CU'
const size = z.number({ error: SIZE }).min(0.01, { error: SIZE }).max(10_000, { error: SIZE })

/** Removes null and undefined members. */
const present = <T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } => {
  const kept: { [K in keyof T]?: NonNullable<T[K]> } = {}
  // A loop for speed: this runs for every field of every compute.
  for (const key of Object.keys(value) as (keyof T)[]) {
    const entry = value[key]
    if (entry !== undefined && entry !== null) kept[key] = entry
  }
  return kept
}

const settings = openObject({
  pg_settings: z.record(z.string(), text, { error: 'an object' }).nullish(),
  preload_libraries: openObject({ use_defaults: flag.optional(), enabled_libraries: list(text).nullish() }).nullish(),
}).transform((wire): WireSettings => {
  const { preload_libraries: preload, ...rest } = present(wire)
  return { ...rest, ...(preload === undefined ? {} : { preload_libraries: present(preload) }) }
})

/** A field that is only displayed, so an invalid value is ignored. Not `catch`, which takes a tenth of the time. */
const displayed = z.unknown().optional()

const endpoint = object({
  id,
  host: text,
  branch_id: id,
  type: z.enum(['read_write', 'read_only'], { error: 'read_write or read_only' }),
  current_state: text,
  pending_state: text.nullish(),
  ...shapesByField({
    text: text.nullish(),
    flag: flag.nullish(),
    seconds: z.int({ error: 'a whole number of seconds' }).nullish(),
    cu: size,
    settings: settings.nullish(),
  }),
  created_at: text.nullish(),
  last_active: text.nullish(),
  started_at: text.nullish(),
  updated_at: displayed,
  suspended_at: displayed,
  proxy_host: displayed,
  region_id: displayed,
  provisioner: displayed,
  creation_source: displayed,
}).refine((wire) => wire.autoscaling_limit_min_cu <= wire.autoscaling_limit_max_cu, {
  path: ['autoscaling_limit_min_cu'],
  error: 'at most `autoscaling_limit_max_cu`',
})

/** Returns texts of a response. Equal texts are kept only once, because computes have many of them. */
const textsOf = () => {
  const texts = new Map<string, string>()
  return (value: unknown): string | undefined => {
    if (typeof value !== 'string') return undefined
    if (!texts.has(value)) texts.set(value, value)
    return texts.get(value)
  }
}

const toCompute = (wire: z.infer<typeof endpoint>, textOf = textsOf()): ObservedCompute => ({
  id: wire.id,
  branchId: wire.branch_id,
  type: wire.type,
  host: wire.host,
  state: wire.current_state,
  attributes: attributesFromWire(present(wire) as WireAttributes),
  ...(wire.settings && Object.keys(wire.settings).length > 0 ? { settings: wire.settings } : {}),
  ...present({
    pendingState: wire.pending_state,
    createdAt: textOf(wire.created_at),
    lastActive: textOf(wire.last_active),
    startedAt: textOf(wire.started_at),
    updatedAt: textOf(wire.updated_at),
    suspendedAt: textOf(wire.suspended_at),
    proxyHost: textOf(wire.proxy_host),
    regionId: textOf(wire.region_id),
    provisioner: textOf(wire.provisioner),
    creationSource: textOf(wire.creation_source),
  }),
})

export const computeAnswer = object({ endpoint }).transform(({ endpoint: one }) => toCompute(one))
export const computesAnswer = z.object({ endpoints: list(endpoint) }).transform(({ endpoints }) => {
  const textOf = textsOf()
  return onceEach(endpoints.map((one) => toCompute(one, textOf)))
})

/** Only cost estimates use counters, so an invalid one is ignored. */
const isCounter = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY

const usageOf = (active: unknown, compute: unknown): BranchUsage | undefined =>
  isCounter(active) && isCounter(compute) ? { activeSeconds: active, computeSeconds: compute } : undefined

const branch = object({
  id,
  name: text,
  default: flag.nullish(),
  primary: flag.nullish(),
  protected: flag.nullish(),
  parent_id: text.nullish(),
  created_at: text.nullish(),
  expires_at: text.nullish(),
  active_time_seconds: z.unknown().optional(),
  compute_time_seconds: z.unknown().optional(),
}).transform(
  (wire): ObservedBranch => ({
    id: wire.id,
    name: wire.name,
    isDefault: wire.default ?? wire.primary ?? false,
    isProtected: wire.protected ?? false,
    ...present({
      parentId: wire.parent_id,
      createdAt: wire.created_at,
      expiresAt: wire.expires_at,
      usage: usageOf(wire.active_time_seconds, wire.compute_time_seconds),
    }),
  }),
)

export const branchesAnswer = object({
  branches: list(branch),
  pagination: object({ next: text.nullish() }).nullish(),
})

export interface Operation {
  readonly id: string
  readonly projectId: string
  readonly branchId?: string
  readonly endpointId?: string
  readonly action: string
  /** The API's status. Unknown values are kept. */
  readonly status: string
  readonly failuresCount: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly totalDurationMs?: number
  readonly error?: string
  /** When a failed operation will be retried, or was last retried. */
  readonly retryAt?: string
}

const operation = object({
  id: operationId,
  project_id: text,
  branch_id: text.nullish(),
  endpoint_id: text.nullish(),
  action: text,
  status: text,
  failures_count: count.nullish(),
  created_at: text,
  updated_at: text,
  total_duration_ms: count.nullish(),
  error: text.nullish(),
  retry_at: text.nullish(),
}).transform(
  (wire): Operation => ({
    id: wire.id,
    projectId: wire.project_id,
    action: wire.action,
    status: wire.status,
    failuresCount: wire.failures_count ?? 0,
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    ...present({
      branchId: wire.branch_id,
      endpointId: wire.endpoint_id,
      totalDurationMs: wire.total_duration_ms,
      error: wire.error?.trim() === '' ? undefined : wire.error,
      retryAt: wire.retry_at,
    }),
  }),
)

export const operationAnswer = object({ operation }).transform(({ operation: one }) => one)
export const operationsAnswer = object({
  operations: list(operation),
  pagination: object({ cursor: text.nullish() }).nullish(),
})

/** Response to a change. Either part may be missing (204, or a change of a branch). */
export const mutationAnswer = object({ endpoint: endpoint.nullish(), operations: list(operation).nullish() }).transform(
  (wire) => ({
    operations: wire.operations ?? [],
    ...(wire.endpoint ? { compute: toCompute(wire.endpoint) } : {}),
  }),
)

export interface Project {
  readonly id: string
  readonly name: string
  readonly regionId?: string
}

const project = object({ id, name: text, region_id: text.nullish() }).transform(
  (wire): Project => ({ id: wire.id, name: wire.name, ...present({ regionId: wire.region_id }) }),
)

export interface Account {
  readonly id: string
  /** `organization` includes project-scoped keys. */
  readonly keyKind?: 'personal' | 'organization'
}

const KEY_KINDS: Readonly<Record<string, Account['keyKind']>> = {
  api_key_user: 'personal',
  api_key_org: 'organization',
}

export const authAnswer = object({ account_id: text, auth_method: text.nullish() }).transform(
  (wire): Account => ({
    id: wire.account_id,
    ...present({ keyKind: KEY_KINDS[wire.auth_method ?? ''] }),
  }),
)

export const organizationsAnswer = object({ organizations: list(object({ id })) })

export const projectsAnswer = object({
  projects: list(project),
  pagination: object({ cursor: text.nullish() }).nullish(),
})

// Describes an undocumented response: the object, the field, its value and the expected value.

const LONGEST = 60

/** From zod. The message names the expected value (wire.ts). */
export interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

const NOUNS: Readonly<Record<string, string>> = {
  endpoint: 'compute',
  endpoints: 'compute',
  branch: 'branch',
  branches: 'branch',
  operation: 'operation',
  operations: 'operation',
  project: 'project',
  projects: 'project',
}

/** `compute ep-a: `autoscaling_limit_min_cu` is "0.25"; expected a number`. */
export const oddValue = (body: unknown, { path, message }: Issue): string => {
  const [first, second] = path
  const thing = NOUNS[String(first)]
  const length = thing === undefined || path.length < 2 ? 0 : typeof second === 'number' ? 2 : 1
  const fields = path.slice(length)
  const value = valueAt(body, path)
  const what = value === undefined ? 'is missing' : `is ${abbreviate(value)}`
  const field = fields.length === 0 ? '' : `\`${fields.map(String).join('.')}\` `
  const who = length === 0 ? 'the body' : `${thing} ${nameOf(valueAt(body, path.slice(0, length)), second)}`
  return plainText(`${who}: ${field}${what}; expected ${message}`)
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<PropertyKey, unknown>>)[key]
        : undefined,
    body,
  )

/** Uses the id if there is one, otherwise the position in the list. */
const nameOf = (item: unknown, index: PropertyKey | undefined): string => {
  const id = valueAt(item, ['id'])
  if (typeof id === 'string' && id !== '') return id.slice(0, LONGEST)
  return typeof index === 'number' ? `${index + 1} in the list` : 'without an id'
}

const abbreviate = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
