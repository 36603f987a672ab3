/** Faults that a user or a test can inject. */
import { z } from 'zod'
import { attributeNames, changedEndpoint, newEndpoint } from '../world/requests.ts'
import { type FileKind, parseYaml, readYaml } from '../yaml-file.ts'

const milliseconds = z.number().min(0).max(86_400_000)

/** What happens to a request. */
const requestEffect = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('latency'), ms: milliseconds, jitterMs: milliseconds.default(0) }),
  /** The connection is closed before or after the request is executed. */
  z.strictObject({ kind: z.enum(['reset-before', 'reset-after']) }),
  /** The response is cut short, is invalid JSON, or is the HTML error page of an intermediary (status 524). */
  z.strictObject({ kind: z.enum(['truncate', 'malformed', 'html']) }),
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    code: z.string().default(''),
    message: z.string().default('injected fault'),
    /** Value of the `Retry-After` header, in seconds. */
    retryAfter: z.int().min(0).optional(),
  }),
  /** Rejected with 423, as if another operation were running on the project. */
  z.strictObject({ kind: z.literal('lock') }),
  /** Lists of computes and operations show the state from `ms` milliseconds ago. */
  z.strictObject({ kind: z.literal('lag'), ms: milliseconds }),
  /** An update is accepted, but does not change these attributes. Default: no attribute is changed. */
  z.strictObject({ kind: z.literal('ignore'), attributes: z.array(z.enum(attributeNames)).min(1).optional() }),
  /** Another client changes the same project just before the request is executed. */
  z.strictObject({ kind: z.literal('rival-create'), endpoint: newEndpoint }),
  z.strictObject({
    kind: z.literal('rival-update'),
    /** Default: the endpoint of the request. */
    endpoint_id: z.string().optional(),
    endpoint: changedEndpoint,
  }),
  z.strictObject({ kind: z.literal('rival-delete'), endpoint_id: z.string().optional() }),
])

/** What happens to an operation. */
const operationEffect = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['fail', 'error']), message: z.string().default('injected fault') }),
  z.strictObject({ kind: z.enum(['cancel', 'skip', 'hang']) }),
  z.strictObject({ kind: z.literal('slow'), ms: milliseconds }),
])

const how = {
  /** How often the fault is injected. 0 means that there is no limit. */
  times: z.int().min(0).default(1),
  /** How many matching requests or operations to skip first. */
  after: z.int().min(0).default(0),
  /** The probability with which a matching request or operation is affected. */
  chance: z.number().gt(0).max(1).default(1),
}

export const faultShape = z.union(
  [
    z.strictObject({
      on: z.literal('request'),
      method: z.string().optional(),
      /** A glob for the path below the API root. `*` matches within a segment, and `**` matches across segments. */
      path: z.string().optional(),
      effect: requestEffect,
      ...how,
    }),
    z.strictObject({
      on: z.literal('operation'),
      action: z.string().optional(),
      endpoint_id: z.string().optional(),
      branch_id: z.string().optional(),
      effect: operationEffect,
      ...how,
    }),
  ],
  { error: 'must have `on: request` or `on: operation`, and an effect of that kind (docs/sandbox.md lists them)' },
)

/** A fault as the user wrote it, without the defaults of omitted keys. */
export type FaultOrder = z.input<typeof faultShape>
export type Fault = z.output<typeof faultShape>
export type RequestEffect = z.output<typeof requestEffect>
export type OperationEffect = z.output<typeof operationEffect>

const KIND: FileKind = { code: 'E_FAULTS', title: 'The fault file', hint: 'docs/sandbox.md describes all faults.' }

/** @throws {EspalierError} `E_FAULTS` if the file cannot be read or is invalid: one line for each mistake. */
export const readFaults = async (path: string): Promise<readonly FaultOrder[]> =>
  parseYaml(await readYaml(path, KIND), path, z.array(faultShape), KIND) as readonly FaultOrder[]
