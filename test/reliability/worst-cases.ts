/** Arbitraries for everything that can go wrong during an apply. */
import fc from 'fast-check'
import { CONSENTS } from '../../src/model/index.ts'
import type { FaultOrder } from '../../src/sandbox/index.ts'
import { manifest as anyManifest, BRANCHES, NAMES } from '../planner/arbitraries.ts'
import { branchId, type Declared, type DeclaredDocument, type DeclaredShape } from '../planner/world.ts'
import { type Application, type Interruption, RIVALS_SUSPEND_TIMEOUT } from './trial.ts'

type RequestFault = Extract<FaultOrder, { readonly on: 'request' }>
type RequestEffect = RequestFault['effect']
type OperationEffect = Extract<FaultOrder, { readonly on: 'operation' }>['effect']

const requestEffect: fc.Arbitrary<RequestEffect> = fc.constantFrom<RequestEffect>(
  { kind: 'latency', ms: 3_000 },
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'truncate' },
  { kind: 'malformed' },
  { kind: 'html' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 502 },
  { kind: 'status', status: 503, retryAfter: 1 },
  { kind: 'status', status: 429 },
  { kind: 'status', status: 429, retryAfter: 2 },
  { kind: 'status', status: 422, message: 'no' },
  { kind: 'lock' },
  { kind: 'ignore' },
  { kind: 'suspend-on-delete' },
  { kind: 'rival-delete' },
)

const rivalUpdate: fc.Arbitrary<RequestEffect> = fc.constantFrom(2, 3).map((cu) => ({
  kind: 'rival-update',
  endpoint: { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu },
}))

const rivalCreate: fc.Arbitrary<RequestEffect> = fc
  .record({
    branch_id: fc.constantFrom(...BRANCHES.map(branchId)),
    type: fc.constantFrom('read_write', 'read_only'),
    // Some of these names are declared.
    name: fc.constantFrom(...NAMES, 'rival'),
  })
  .map((endpoint) => ({
    kind: 'rival-create',
    endpoint: { ...endpoint, suspend_timeout_seconds: RIVALS_SUSPEND_TIMEOUT },
  }))

const operationEffect: fc.Arbitrary<OperationEffect> = fc.constantFrom<OperationEffect>(
  { kind: 'fail', message: 'no host had room' },
  { kind: 'error', message: 'no host had room' },
  { kind: 'cancel' },
  { kind: 'skip' },
  { kind: 'hang' },
  { kind: 'slow', ms: 20_000 },
)

const when = { times: fc.integer({ min: 1, max: 4 }), after: fc.integer({ min: 0, max: 5 }) }

const onRequest: fc.Arbitrary<FaultOrder> = fc
  .record({
    effect: requestEffect,
    method: fc.constantFrom('POST', 'PATCH', 'DELETE', 'GET', undefined),
    ...when,
  })
  .map(({ method, ...fault }) => ({ on: 'request', ...fault, ...(method === undefined ? {} : { method }) }))

/** Another client acts right before one of our changes, or before any request. */
const rival: fc.Arbitrary<FaultOrder> = fc
  .record({ effect: fc.oneof(rivalUpdate, rivalCreate), isAnywhere: fc.boolean(), ...when })
  .map(({ effect, isAnywhere, after, times }) => ({
    on: 'request',
    effect,
    ...(isAnywhere
      ? { times, after }
      : { method: effect.kind === 'rival-update' ? 'PATCH' : 'POST', after: after % 2 }),
  }))

const onOperation: fc.Arbitrary<FaultOrder> = fc.record({
  on: fc.constant('operation' as const),
  effect: operationEffect,
  ...when,
})

/** Lists lag for up to as long as an apply looks for the effect of a lost request. */
const lag: fc.Arbitrary<FaultOrder> = fc
  .record({ ms: fc.integer({ min: 500, max: 25_000 }), path: fc.constantFrom('endpoints', 'operations', '*') })
  .map(({ ms, path }) => ({
    on: 'request',
    method: 'GET',
    path: `/projects/*/${path}`,
    effect: { kind: 'lag', ms },
    times: 0,
  }))

const fault = fc.oneof(
  { weight: 4, arbitrary: onRequest },
  { weight: 2, arbitrary: onOperation },
  { weight: 1, arbitrary: lag },
  { weight: 1, arbitrary: rival },
)

const interruption: fc.Arbitrary<Interruption | undefined> = fc.option(
  fc.record({ at: fc.integer({ min: 1, max: 25 }), how: fc.constantFrom('stop', 'abort') }),
  { nil: undefined, freq: 2 },
)

export const application: fc.Arbitrary<Application> = fc.record({
  faults: fc.array(fault, { maxLength: 4 }),
  interruption,
  allow: fc.oneof(
    { weight: 3, arbitrary: fc.constant(CONSENTS) },
    { weight: 1, arbitrary: fc.subarray([...CONSENTS]) },
  ),
})

/** The service rejects large computes that scale to zero; validation would have rejected such a manifest. */
const acceptable = (one: Declared): Declared => (one.size === 24 ? { ...one, scaleToZero: -1 } : one)

const acceptableShape = <T extends DeclaredShape>(shape: T): T => ({
  ...shape,
  ...(typeof shape.primary === 'object' ? { primary: acceptable(shape.primary) } : {}),
  replicas: Object.fromEntries(Object.entries(shape.replicas ?? {}).map(([key, one]) => [key, acceptable(one)])),
})

export const manifest: fc.Arbitrary<DeclaredDocument> = anyManifest.map(({ branches = {}, rules = [], ...rest }) => ({
  ...rest,
  branches: Object.fromEntries(Object.entries(branches).map(([name, shape]) => [name, acceptableShape(shape)])),
  rules: rules.map(acceptableShape),
}))
