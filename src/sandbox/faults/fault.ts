/** What can be made to go wrong, as a person or a test orders it. */
import { z } from 'zod'
import { attributeNames, changedEndpoint, newEndpoint } from '../world/compute-request.ts'

const milliseconds = z.number().min(0).max(86_400_000)

/** Of requests: what the client sees. */
const requestEffect = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('latency'), ms: milliseconds, jitterMs: milliseconds.default(0) }),
  /** The connection is cut before the request did anything, or after it did. */
  z.strictObject({ kind: z.enum(['reset-before', 'reset-after']) }),
  /** The answer ends half way, is no JSON, or is a page of something in between (status 524). */
  z.strictObject({ kind: z.enum(['truncate', 'malformed', 'html']) }),
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    code: z.string().default(''),
    message: z.string().default('injected fault'),
    /** Seconds, as the header `Retry-After`. */
    retryAfter: z.int().min(0).optional(),
  }),
  /** Refused with 423, as if somebody else's operation ran on the project. */
  z.strictObject({ kind: z.literal('lock') }),
  /** A list of computes or operations shows what was so long ago. */
  z.strictObject({ kind: z.literal('lag'), ms: milliseconds }),
  /** An update is accepted, and these of its attributes are left as they are. Default: all of them. */
  z.strictObject({ kind: z.literal('ignore'), attributes: z.array(z.enum(attributeNames)).min(1).optional() }),
  /** Somebody else is quicker: before the request does anything, another one changes the same project. */
  z.strictObject({ kind: z.literal('rival-create'), endpoint: newEndpoint }),
  z.strictObject({
    kind: z.literal('rival-update'),
    /** Default: the one that the request is about. */
    endpoint_id: z.string().optional(),
    endpoint: changedEndpoint,
  }),
  z.strictObject({ kind: z.literal('rival-delete'), endpoint_id: z.string().optional() }),
])

/** Of operations: how they end. */
const operationEffect = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['fail', 'error']), message: z.string().default('injected fault') }),
  z.strictObject({ kind: z.enum(['cancel', 'skip', 'hang']) }),
  z.strictObject({ kind: z.literal('slow'), ms: milliseconds }),
])

const how = {
  /** How often it strikes; 0: without end. */
  times: z.int().min(0).default(1),
  /** How many that it could strike it lets pass first. */
  after: z.int().min(0).default(0),
  /** Of those that it could strike, the share that it does strike. */
  chance: z.number().gt(0).max(1).default(1),
}

export const faultShape = z.union(
  [
    z.strictObject({
      on: z.literal('request'),
      method: z.string().optional(),
      /** A glob over the path below the API's root: `*` within a segment, `**` across segments. */
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
  { error: 'on: request or operation, with an effect that is one of that kind (docs/sandbox.md lists them)' },
)

/** As it is ordered. */
export type FaultOrder = z.input<typeof faultShape>
export type Fault = z.output<typeof faultShape>
export type RequestEffect = z.output<typeof requestEffect>
export type OperationEffect = z.output<typeof operationEffect>
