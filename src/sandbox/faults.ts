/** The faults that are waiting to be injected. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { globMatches } from '../base/index.ts'
import { type FileKind, readYaml } from '../base/yaml/index.ts'
import type { OperationRecord } from './world/records.ts'
import { attributeNames, changedEndpoint, newEndpoint } from './world/requests.ts'

export interface PendingFault {
  readonly id: string
  readonly fault: Fault
  /** How often the fault was injected. */
  readonly struck: number
}

export class Faults {
  readonly random: () => number
  #waiting: readonly (PendingFault & { readonly passed: number })[] = []

  /** @param random returns a number in [0, 1), for `chance` and jitter. */
  constructor(random: () => number = Math.random) {
    this.random = random
  }

  /** @throws {z.ZodError} if the fault is invalid. */
  add(order: FaultOrder): PendingFault {
    const added = { id: randomUUID(), fault: faultShape.parse(order), struck: 0, passed: 0 }
    this.#waiting = [...this.#waiting, added]
    return added
  }

  /** Returns whether there was such a fault. */
  remove(id: string): boolean {
    const before = this.#waiting.length
    this.#waiting = this.#waiting.filter((fault) => fault.id !== id)
    return this.#waiting.length < before
  }

  clear(): void {
    this.#waiting = []
  }

  list(): readonly PendingFault[] {
    return this.#waiting.map(({ id, fault, struck }) => ({ id, fault, struck }))
  }

  ofRequest(method: string, path: string): RequestEffect | undefined {
    const struck = this.#take(
      ({ fault }) =>
        fault.on === 'request' &&
        (fault.method === undefined || fault.method.toUpperCase() === method) &&
        (fault.path === undefined || globMatches(fault.path, path)),
    )
    return struck?.on === 'request' ? struck.effect : undefined
  }

  /** @param part the action of another operation whose work is a part of this one. */
  ofOperation({ action, computeId, branchId }: OperationRecord, part?: string): OperationEffect | undefined {
    const struck = this.#take(
      ({ fault }) =>
        fault.on === 'operation' &&
        (fault.action === undefined || fault.action === action || fault.action === part) &&
        (fault.endpoint_id === undefined || fault.endpoint_id === computeId) &&
        (fault.branch_id === undefined || fault.branch_id === branchId),
    )
    return struck?.on === 'operation' ? struck.effect : undefined
  }

  /** Returns the first matching fault that is due. Matching faults before it that are not due yet count this match. */
  #take(matches: (waiting: PendingFault) => boolean): Fault | undefined {
    if (this.#waiting.length === 0) return undefined
    let striking: Fault | undefined
    this.#waiting = this.#waiting.flatMap((waiting) => {
      if (striking !== undefined || !matches(waiting)) return [waiting]
      if (waiting.passed < waiting.fault.after) return [{ ...waiting, passed: waiting.passed + 1 }]
      if (waiting.fault.chance < 1 && this.random() >= waiting.fault.chance) return [waiting]
      striking = waiting.fault
      const struck = waiting.struck + 1
      return waiting.fault.times > 0 && struck >= waiting.fault.times ? [] : [{ ...waiting, struck }]
    })
    return striking
  }
}

// Faults that a user or a test can inject.

const milliseconds = z.number().min(0).max(86_400_000)

/** What happens to a request. The descriptions are shown in the docs. */
const requestEffect = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('latency'), ms: milliseconds, jitterMs: milliseconds.default(0) })
    .describe('executes the request after `ms` milliseconds of sandbox time, plus up to `jitterMs`'),
  z
    .strictObject({ kind: z.enum(['reset-before', 'reset-after']) })
    .describe('closes the connection before or after the request takes effect'),
  z
    .strictObject({ kind: z.enum(['truncate', 'malformed', 'html']) })
    .describe(
      'sends only half of the response, invalid JSON, or (without executing the request) an HTML page with status 524',
    ),
  z
    .strictObject({
      kind: z.literal('status'),
      status: z.int().min(400).max(599),
      code: z.string().default(''),
      message: z.string().default('injected fault'),
      retryAfter: z.int().min(0).optional(),
    })
    .describe('sends an error with these values, without executing the request; `retryAfter` is in seconds'),
  z.strictObject({ kind: z.literal('lock') }).describe('returns 423, as if another operation were running'),
  z
    .strictObject({ kind: z.literal('lag'), ms: milliseconds })
    .describe('lists of computes and operations show the state from `ms` milliseconds ago'),
  z
    .strictObject({ kind: z.literal('ignore'), attributes: z.array(z.enum(attributeNames)).min(1).optional() })
    .describe('accepts an update of a compute, but does not change these attributes (default: all)'),
  z
    .strictObject({ kind: z.literal('suspend-on-delete') })
    .describe('deleting a compute that is not idle starts `suspend_compute`, as the OpenAPI document shows'),
  z
    .strictObject({ kind: z.literal('rival-create'), endpoint: newEndpoint })
    .describe('another client creates a compute just before the request takes effect'),
  z
    .strictObject({ kind: z.literal('rival-update'), endpoint_id: z.string().optional(), endpoint: changedEndpoint })
    .describe('another client first changes a compute (default: the one in the request)'),
  z
    .strictObject({ kind: z.literal('rival-delete'), endpoint_id: z.string().optional() })
    .describe('like `rival-update`, but the other client deletes the compute'),
])

/** What happens to an operation. */
const operationEffect = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.enum(['fail', 'error']), message: z.string().default('injected fault') })
    .describe(
      '`fail`: the operation fails, and (except `check_availability`) is retried after 1 s, then another 2 s. `error`: it ends with this status, without a retry',
    ),
  z
    .strictObject({ kind: z.enum(['cancel', 'skip', 'hang']) })
    .describe(
      'the operation is cancelled or skipped, or it does not end until the sandbox restarts or its project is deleted, and keeps the project locked',
    ),
  z
    .strictObject({ kind: z.literal('slow'), ms: milliseconds })
    .describe('the operation takes `ms` milliseconds longer'),
  z
    .strictObject({ kind: z.enum(['restart', 'live']) })
    .describe('an `apply_config` operation restarts an active compute, or does not, regardless of the usual rules'),
])

const how = {
  times: z.int().min(0).default(1).describe('how often the fault occurs; 0 means without limit'),
  after: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'how many matching requests or operations to skip first, not counting those that an earlier fault affects',
    ),
  chance: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('the probability of the fault at each later match; 0.02 means one in fifty'),
}

export const faultShape = z.union(
  [
    z.strictObject({
      on: z.literal('request'),
      method: z.string().optional(),
      path: z.string().optional().describe('a glob for the path below `/api/v2`'),
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
  { error: 'must have `on: request` or `on: operation`, and an effect of that kind' },
)

/** A fault as the user wrote it, without the defaults of omitted keys. */
export type FaultOrder = z.input<typeof faultShape>
type Fault = z.output<typeof faultShape>
export type RequestEffect = z.output<typeof requestEffect>
type OperationEffect = z.output<typeof operationEffect>

const KIND: FileKind = {
  code: 'E_SEED',
  title: 'The fault file',
  hint: 'For the format, run `espalier explain E_SEED`.',
}

/** @throws {EspalierError} `E_SEED` if the file cannot be read or is invalid: one line for each mistake. */
export const readFaults = (path: string): Promise<readonly FaultOrder[]> => readYaml(path, z.array(faultShape), KIND)
