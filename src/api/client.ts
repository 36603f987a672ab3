/** The control API as typed calls. The reading client has no method that writes. */
import {
  type Clock,
  EspalierError,
  type ObservedBranch,
  type ObservedCompute,
  type StepRequest,
} from '../model/index.ts'
import { DEFAULT_BASE_URL, parseBaseUrl } from './base-url.ts'
import { systemClock } from './clock.ts'
import { ApiError } from './errors.ts'
import { pageTurner } from './pages.ts'
import { RequestBudget } from './request-budget.ts'
import { type CallOptions, Requester } from './requester.ts'
import { Transport } from './transport.ts'
import { checkKey, refuseUnverified } from './trust.ts'
import * as wire from './wire.ts'

export interface ApiOptions {
  /** The API root, version segment included. */
  readonly baseUrl?: string
  readonly apiKey: string
  readonly clock?: Clock
  readonly random?: () => number
  readonly userAgent?: string
  /** Connections kept open at most. Default 16. */
  readonly connections?: number
  /** How long a locked project (423) is waited for, in milliseconds. Default ten minutes. */
  readonly lockTimeoutMs?: number
  /** `false` sends as fast as it can: for a server without the service's limits. */
  readonly rateLimit?: boolean
  /** How many share the account's limits: this one keeps to its part of them. Default 1. */
  readonly clients?: number
  /** One line a request; never the key. */
  readonly debug?: (line: string) => void
}

export interface OperationsPage {
  /** Newest first. */
  readonly operations: readonly wire.Operation[]
  /** Of the next page; absent on the last. */
  readonly cursor?: string
}

export interface ReadApi {
  listProjects(): Promise<readonly wire.Project[]>
  getProject(projectId: string): Promise<wire.Project>
  listBranches(projectId: string): Promise<readonly ObservedBranch[]>
  listComputes(projectId: string, options?: CallOptions): Promise<readonly ObservedCompute[]>
  /** `undefined` where it is gone. */
  getCompute(projectId: string, computeId: string, options?: CallOptions): Promise<ObservedCompute | undefined>
  /** `limit` from 1 to 1000. */
  listOperations(
    projectId: string,
    page?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<OperationsPage>
  getOperation(projectId: string, operationId: string, options?: CallOptions): Promise<wire.Operation>
  close(): Promise<void>
}

/** What a changing call answered. `compute` is absent where the answer had no body (204: it was gone already). */
export interface Mutation {
  readonly compute?: ObservedCompute
  readonly operations: readonly wire.Operation[]
}

export interface WriteApi extends ReadApi {
  send(request: StepRequest, options?: CallOptions): Promise<Mutation>
}

/** @throws {EspalierError} `E_BASE_URL`, see {@link parseBaseUrl}; `E_KEY`, `E_TLS`, `E_PROXY`. */
export const createReadApi = (options: ApiOptions): ReadApi => reading(connect(options))

/** @throws {EspalierError} `E_BASE_URL`, see {@link parseBaseUrl}; `E_KEY`, `E_TLS`, `E_PROXY`. */
export const createWriteApi = (options: ApiOptions): WriteApi => {
  const connection = connect(options)
  const api = reading(connection)
  return {
    ...api,
    send: ({ method, path, body }, call = {}) =>
      connection.requester.call(method, path, wire.mutationAnswer, body, {
        ...call,
        lockHolder: () => lockHolder(api, path),
      }),
  }
}

interface Connection {
  readonly requester: Requester
  readonly transport: Transport
  readonly clock: Clock
}

const connect = (options: ApiOptions): Connection => {
  if (options.apiKey === '')
    throw new EspalierError('E_KEY', 'The API key is empty.', { hint: 'Set ESPALIER_API_KEY.' })
  checkKey(options.apiKey)
  const baseUrl = parseBaseUrl(options.baseUrl ?? DEFAULT_BASE_URL)
  refuseUnverified(baseUrl)
  const clock = options.clock ?? systemClock
  const transport = new Transport({
    baseUrl,
    apiKey: options.apiKey,
    userAgent: options.userAgent ?? 'espalier',
    connections: options.connections ?? 16,
    debug: options.debug,
  })
  const requester = new Requester(transport, {
    clock,
    random: options.random ?? Math.random,
    budget: options.rateLimit === false ? undefined : new RequestBudget(clock, options.clients),
    lockTimeoutMs: options.lockTimeoutMs ?? 600_000,
  })
  return { requester, transport, clock }
}

/** The largest pages that the API gives, so that a project costs few requests. */
const BRANCH_PAGE = 10_000
const PROJECT_PAGE = 400

const reading = ({ requester, transport, clock }: Connection): ReadApi => ({
  async listProjects() {
    const projects: wire.Project[] = []
    const next = pageTurner('/projects', clock)
    let cursor: string | undefined
    do {
      const page = await requester.call(
        'GET',
        `/projects${query({ limit: PROJECT_PAGE, cursor })}`,
        wire.projectsAnswer,
      )
      for (const project of page.projects) projects.push(project)
      // The cursor is there on the last page too: a page that is not full is the last one.
      cursor = next(page.projects.length < PROJECT_PAGE ? undefined : page.pagination?.cursor, projects.length)
    } while (cursor !== undefined)
    return projects
  },
  getProject: (projectId) => requester.call('GET', below(projectId), wire.projectAnswer),
  async listBranches(projectId) {
    const branches: ObservedBranch[] = []
    const next = pageTurner(below(projectId, 'branches'), clock)
    let cursor: string | undefined
    do {
      const path = `${below(projectId, 'branches')}${query({ limit: BRANCH_PAGE, cursor })}`
      const page = await requester.call('GET', path, wire.branchesAnswer)
      for (const branch of page.branches) branches.push(branch)
      cursor = next(page.branches.length === 0 ? undefined : page.pagination?.next, branches.length)
    } while (cursor !== undefined)
    return branches
  },
  listComputes: (projectId, options) =>
    requester.call('GET', below(projectId, 'endpoints'), wire.computesAnswer, undefined, options),
  async getCompute(projectId, computeId, options) {
    try {
      return await requester.call(
        'GET',
        below(projectId, 'endpoints', computeId),
        wire.computeAnswer,
        undefined,
        options,
      )
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  },
  async listOperations(projectId, { limit = 100, cursor } = {}, options = {}) {
    const path = `${below(projectId, 'operations')}${query({ limit, cursor })}`
    const page = await requester.call('GET', path, wire.operationsAnswer, undefined, options)
    const next = page.operations.length < limit ? undefined : (page.pagination?.cursor ?? undefined)
    return { operations: page.operations, ...(next === undefined ? {} : { cursor: next }) }
  },
  getOperation: (projectId, operationId, options) =>
    requester.call('GET', below(projectId, 'operations', operationId), wire.operationAnswer, undefined, options),
  close: () => transport.close(),
})

const below = (...segments: readonly string[]): string =>
  `/projects/${segments.map((segment) => encodeURIComponent(segment)).join('/')}`

const query = (values: Readonly<Record<string, string | number | undefined>>): string => {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return `?${new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

/** `failed` is not among them: such an operation can be retried, and holds the lock meanwhile (spec 2.1.2). */
const SETTLED = new Set(['finished', 'skipped', 'cancelled', 'error'])

/** `operation OP_ID (apply_config on ep-…, running)`, the oldest one that is not settled. */
const lockHolder = async (api: ReadApi, path: string): Promise<string | undefined> => {
  const project = /^\/projects\/([^/]+)/.exec(path)?.[1]
  if (project === undefined) return undefined
  const { operations } = await api.listOperations(project, { limit: 20 })
  const holder = operations.findLast(({ status }) => !SETTLED.has(status))
  if (holder === undefined) return undefined
  const where = holder.endpointId ?? holder.branchId
  return `operation ${holder.id} (${holder.action}${where === undefined ? '' : ` on ${where}`}, ${holder.status})`
}
