/** An in-memory control plane that follows a script, and a clock that advances whenever code sleeps. */
import { ApiError, type Mutation, type Operation, type WriteApi } from '../../src/api/index.ts'
import type { Clock } from '../../src/base/index.ts'
import {
  type ApplyEvent,
  attributesFromWire,
  type ObservedBranch,
  type ObservedCompute,
  type StepRequest,
} from '../../src/model/index.ts'

export interface FakeClock extends Clock {
  readonly slept: readonly number[]
}

/** Sleeping takes no time: the clock jumps. */
export const fakeClock = (): FakeClock => {
  let now = Date.UTC(2026, 0, 1)
  const slept: number[] = []
  return {
    now: () => now,
    slept,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      slept.push(ms)
      now += ms
      await Promise.resolve()
    },
  }
}

const withBody = ({ method, path }: StepRequest, body: StepRequest['body']): StepRequest => ({
  method,
  path,
  ...(body === undefined ? {} : { body }),
})

export const compute = (id: string, overrides: Partial<ObservedCompute> = {}): ObservedCompute => ({
  id,
  branchId: 'br-main',
  type: 'read_write',
  host: `${id}.host.test`,
  state: 'active',
  attributes: { size: { min: 1, max: 1 }, scaleToZero: 0 },
  ...overrides,
})

export const operation = (id: string, overrides: Partial<Operation> = {}): Operation => ({
  id,
  projectId: 'p',
  action: 'apply_config',
  status: 'running',
  failuresCount: 0,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  ...overrides,
})

export const lost = (method: string): ApiError =>
  new ApiError('E_NETWORK', 'The control API did not respond: ECONNRESET', { method, path: '/x', ambiguous: true })

export const refused = (status: number): ApiError =>
  new ApiError('E_API', 'The control API rejected the request: no', { method: 'PATCH', path: '/x', status })

export interface Script {
  readonly branches?: readonly ObservedBranch[]
  readonly computes?: readonly ObservedCompute[]
  /** Statuses that successive reads of an operation return. The last one is repeated. */
  readonly statuses?: readonly string[]
  /** Handles each request in place of the default, which performs it. `attempt` counts from 1. */
  readonly onSend?: (attempt: number, request: StepRequest, perform: () => Mutation) => Mutation
  /** Called while the first request, or the first after `lockAt` requests, waits for a lock. */
  readonly onLock?: (computes: Map<string, ObservedCompute>) => void
  readonly lockAt?: number
  /** Requests are accepted but have no effect. */
  readonly ignores?: boolean
}

/** Fails the requests for which `when` is true: by default, all. */
export const failing =
  (error: ApiError, when: (attempt: number) => boolean = () => true): NonNullable<Script['onSend']> =>
  (attempt, _request, perform) => {
    if (when(attempt)) throw error
    return perform()
  }

/** Performs each request, and loses its response. */
export const unanswered: NonNullable<Script['onSend']> = (_attempt, { method }, perform) => {
  perform()
  throw lost(method)
}

/** From the first request on, no compute can be read by id. */
export const blindAfterwards = (api: FakeApi, error: ApiError): FakeApi => ({
  ...api,
  getCompute: async (project, id) => {
    if (api.sent.length > 0) throw error
    return api.getCompute(project, id)
  },
})

export const abortingAt =
  (type: ApplyEvent['type'], controller: AbortController) =>
  (event: ApplyEvent): void => {
    if (event.type === type) controller.abort()
  }

export interface FakeApi extends WriteApi {
  readonly sent: readonly StepRequest[]
  readonly computes: Map<string, ObservedCompute>
  /** Names of the read calls, in order. */
  readonly reads: readonly string[]
}

export const fakeApi = (script: Script = {}): FakeApi => {
  const computes = new Map((script.computes ?? []).map((one) => [one.id, one]))
  const operations = new Map<string, { readonly operation: Operation; looks: number }>()
  const sent: StepRequest[] = []
  const reads: string[] = []
  const statuses = script.statuses ?? ['running', 'finished']

  const nextId = (size = computes.size): string =>
    computes.has(`ep-made-${size}`) ? nextId(size + 1) : `ep-made-${size}`

  const perform = (request: StepRequest): Mutation => {
    const id = request.method === 'POST' ? nextId() : (request.path.split('/').at(-1) ?? '')
    const before = computes.get(id)
    const endpoint = request.body?.endpoint ?? {}
    const started = operation(`op-${operations.size}`, { status: statuses[0] ?? 'finished', endpointId: id })
    operations.set(started.id, { operation: started, looks: 0 })
    if (request.method === 'DELETE') {
      computes.delete(id)
      return { operations: [started] }
    }
    const base = before ?? compute(id, { attributes: {} })
    const min = endpoint.autoscaling_limit_min_cu ?? base.attributes.size?.min ?? 1
    const max = endpoint.autoscaling_limit_max_cu ?? base.attributes.size?.max ?? 1
    const after: ObservedCompute = {
      ...base,
      type: endpoint.type ?? base.type,
      branchId: endpoint.branch_id ?? base.branchId,
      attributes: { ...base.attributes, ...attributesFromWire(endpoint), size: { min, max } },
    }
    if (script.ignores !== true) computes.set(id, after)
    return { compute: before ?? after, operations: [started] }
  }

  let isLockOver = false
  const receive = (request: StepRequest): Mutation => {
    sent.push(request)
    return script.onSend === undefined ? perform(request) : script.onSend(sent.length, request, () => perform(request))
  }

  const look = (id: string): Operation => {
    const entry = operations.get(id)
    if (entry === undefined) throw new Error(`no operation ${id}`)
    entry.looks += 1
    const status = statuses[Math.min(entry.looks, statuses.length - 1)] ?? 'finished'
    return { ...entry.operation, status }
  }

  return {
    sent,
    reads,
    computes,
    sendUnless: async (request, before) => {
      const first = await before()
      if ('instead' in first) return first.instead
      if (script.onLock === undefined || isLockOver) return receive(withBody(request, first.send))
      if (sent.length < (script.lockAt ?? 0)) return receive(withBody(request, first.send))
      isLockOver = true
      script.onLock(computes)
      const second = await before()
      return 'instead' in second ? second.instead : receive(withBody(request, second.send))
    },
    listComputes: async () => {
      reads.push('listComputes')
      return [...computes.values()]
    },
    getCompute: async (_project, id) => {
      reads.push('getCompute')
      return computes.get(id)
    },
    listOperations: async () => {
      reads.push('listOperations')
      return { operations: [...operations.keys()].reverse().map(look) }
    },
    getOperation: async (_project, id) => {
      reads.push('getOperation')
      return look(id)
    },
    account: async () => undefined,
    listProjects: async () => [],
    searchProjects: async () => [],
    projectDetails: async () => undefined,
    listBranches: async () => script.branches ?? [],
    serviceTime: () => Date.UTC(2026, 0, 1),
    close: async () => undefined,
  }
}
