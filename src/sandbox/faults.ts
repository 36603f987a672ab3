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
  /** DELETE of a running compute starts `suspend_compute`, as the public OpenAPI document shows. */
  z.strictObject({ kind: z.literal('suspend-on-delete') }),
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
  /** An `apply_config` restarts the compute, or does not restart it, against the rules of the API. */
  z.strictObject({ kind: z.enum(['restart', 'live']) }),
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
