/** A typed client for the control API. The read client has no methods that write. */
import {
  type Clock,
  DEFAULT_CONCURRENCY,
  DEFAULT_TIMEOUT_MS,
  defined,
  mapConcurrently,
  plainText,
  systemClock,
} from '../base/index.ts'
import { apiPath, type ObservedBranch, type ObservedCompute, projectOf, type StepRequest } from '../model/index.ts'
import { ApiError, isNotFound, optionalRead } from './errors.ts'
import { lockHolder } from './operation-ends.ts'
import { listAll, type Page, timedItems } from './reading.ts'
import { RequestBudget } from './request-budget.ts'
import { type BeforeAttempt, type CallOptions, Requester } from './requester.ts'
import {
  checkKey,
  DEFAULT_BASE_URL,
  parseBaseUrl,
  type Requests,
  type RequestWatch,
  refuseUnverified,
  Transport,
} from './transport.ts'
import * as wire from './wire.ts'
import { type ProjectDetails, projectAnswer } from './wire-project.ts'

export interface ApiOptions {
  /** Root URL of the API, including the version segment. */
  readonly baseUrl?: string
  /** A function is called before each request, because the key may be replaced. */
  readonly apiKey: string | (() => string)
  readonly clock?: Clock
  readonly random?: () => number
  readonly userAgent?: string
  /** How long to wait for a locked project (423), in milliseconds. Default ten minutes. */
  readonly lockTimeoutMs?: number
  /** `false` turns off rate limiting, for servers without the service's limits. */
  readonly rateLimit?: boolean
  /** How many clients share the account's rate limits. This one uses only its share. Default 1. */
  readonly clients?: number | (() => number)
  /** Called with one line per request, which never contains the key. */
  readonly debug?: (line: string) => void
  readonly watch?: RequestWatch
  /** Sends the requests, instead of connections to the network. Not closed with the client. */
  readonly dispatcher?: Requests
}

export interface OperationsPage {
  /** Newest first. */
  readonly operations: readonly wire.Operation[]
  /** Cursor of the next page. That page may be empty, because the service sends a cursor with the last page too. */
  readonly cursor?: string
}

export interface ReadApi {
  /** The owner of the key; `undefined` if unknown. */
  account(): Promise<wire.Account | undefined>
  /** All projects that the key can access, in all organizations. */
  listProjects(): Promise<readonly wire.Project[]>
  /** At most 400 projects of each organization whose id or name contains `text`. */
  searchProjects(text?: string): Promise<readonly wire.Project[]>
  /**
   * Reads the project's details and caches them. `refresh` reads them again, but keeps the cached ones if that fails.
   * `undefined` if the request is rejected, because no plan depends on the details.
   */
  projectDetails(projectId: string, options?: { readonly refresh?: boolean }): Promise<ProjectDetails | undefined>
  listBranches(projectId: string, options?: CallOptions): Promise<readonly ObservedBranch[]>
  listComputes(projectId: string, options?: CallOptions): Promise<readonly ObservedCompute[]>
  /** `undefined` if the compute does not exist. */
  getCompute(projectId: string, computeId: string, options?: CallOptions): Promise<ObservedCompute | undefined>
  /** `limit` from 1 to 1000. */
  listOperations(
    projectId: string,
    page?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<OperationsPage>
  getOperation(projectId: string, operationId: string, options?: CallOptions): Promise<wire.Operation>
  /** The service's time, in milliseconds since the epoch, as far as its responses show it. Times in them are by this clock. */
  serviceTime(): number
  close(): Promise<void>
}

/** The response to a change. `compute` is absent if the response had no body (204: already deleted). */
export interface Mutation {
  readonly compute?: ObservedCompute
  readonly operations: readonly wire.Operation[]
}

export interface WriteApi extends ReadApi {
  /**
   * Calls `before` right before every attempt. It must return the body to send, or a result that replaces the request.
   */
  sendUnless<Instead>(
    request: StepRequest,
    before: BeforeAttempt<StepRequest['body'], Instead>,
    options?: CallOptions,
  ): Promise<Mutation | Instead>
}

/** @throws {EspalierError} `E_BASE_URL`, see {@link parseBaseUrl}; `E_KEY`, `E_TLS`, `E_PROXY`. */
export const createReadApi = (options: ApiOptions): ReadApi => reading(connect(options))

/** @throws {EspalierError} `E_BASE_URL`, see {@link parseBaseUrl}; `E_KEY`, `E_TLS`, `E_PROXY`. */
export const createWriteApi = (options: ApiOptions): WriteApi => {
  const connection = connect(options)
  const api = reading(connection)
  const lockHolderOf = async (path: string): Promise<string | undefined> => {
    const project = projectOf(path)
    if (project === undefined) return undefined
    const { operations } = await api.listOperations(project, { limit: 20 })
    return lockHolder(operations, connection.clock)
  }
  return {
    ...api,
    sendUnless: (request, before, call = {}) =>
      connection.requester.write(request, wire.mutationAnswer, before, {
        ...call,
        lockHolder: () => lockHolderOf(request.path),
      }),
  }
}

type Connection = ReturnType<typeof connect>

const connect = (options: ApiOptions) => {
  const { apiKey } = options
  const keyNow = typeof apiKey === 'function' ? apiKey : () => apiKey
  checkKey(keyNow())
  const baseUrl = parseBaseUrl(options.baseUrl ?? DEFAULT_BASE_URL)
  refuseUnverified(baseUrl)
  const clock = options.clock ?? systemClock
  const transport = new Transport({
    baseUrl,
    apiKey: keyNow,
    userAgent: options.userAgent ?? 'espalier',
    // Each project is read by up to four concurrent requests.
    connections: 4 * DEFAULT_CONCURRENCY,
    debug: options.debug,
    watch: options.watch,
    dispatcher: options.dispatcher,
  })
  const requester = new Requester(transport, {
    baseUrl,
    clock,
    random: options.random ?? Math.random,
    budget: options.rateLimit === false ? undefined : new RequestBudget(clock, options.clients, options.watch?.onLimit),
    lockTimeoutMs: options.lockTimeoutMs ?? DEFAULT_TIMEOUT_MS,
  })
  return { requester, transport, clock }
}

/** The largest page sizes of the API, to save requests. */
const BRANCH_PAGE = 10_000
const PROJECT_PAGE = 400

const detailsReader = ({ requester }: Connection): ReadApi['projectDetails'] => {
  const known = new Map<string, Promise<ProjectDetails | undefined>>()
  return (id, { refresh = false } = {}) => {
    const before = known.get(id)
    if (before !== undefined && !refresh) return before
    const path = apiPath(id)
    const read = requester.read(path, projectAnswer, { once: true })
    const details = optionalRead(read.then((answered) => checkId(id, path, answered))).then((now) => now ?? before)
    known.set(id, details)
    return details
  }
}

const reading = (connection: Connection): ReadApi => {
  const { requester, transport, clock } = connection
  const projectsIn =
    (organization: string | undefined) =>
    async (search: { cursor?: string; search?: string }): Promise<Page<wire.Project>> => {
      const path = `/projects${query({ limit: PROJECT_PAGE, org_id: organization, ...search })}`
      const { projects, pagination } = await requester.read(path, wire.projectsAnswer)
      return { items: projects, next: pagination?.cursor }
    }
  /** The service refuses to list the projects of a personal key unless the request names an organization. */
  const inAllOrganizations = async (
    list: (organization?: string) => Promise<readonly wire.Project[]>,
  ): Promise<readonly wire.Project[]> => {
    try {
      return await list()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error
      const known = await optionalRead(requester.read('/users/me/organizations', wire.organizationsAnswer))
      if (known === undefined || known.organizations.length === 0) throw error
      const lists = await mapConcurrently(known.organizations, DEFAULT_CONCURRENCY, ({ id }) => list(id))
      return lists.flat()
    }
  }
  return {
    account: () => optionalRead(requester.read('/auth', wire.authAnswer)),
    listProjects: () => inAllOrganizations((id) => listAll(clock, '/projects', projectsIn(id))),
    searchProjects: (search) => inAllOrganizations(async (id) => (await projectsIn(id)(defined({ search }))).items),
    projectDetails: detailsReader(connection),
    listBranches(projectId, options) {
      const path = apiPath(projectId, 'branches')
      return listAll(clock, path, async (after) => {
        const page = `${path}${query({ limit: BRANCH_PAGE, ...after })}`
        const { branches, pagination } = await requester.read(page, wire.branchesAnswer, options)
        return { items: branches, next: pagination?.next }
      })
    },
    listComputes: (projectId, options) => requester.read(apiPath(projectId, 'endpoints'), wire.computesAnswer, options),
    async getCompute(projectId, computeId, options) {
      const path = apiPath(projectId, 'endpoints', computeId)
      try {
        const compute = await requester.read(path, wire.computeAnswer, options)
        return checkId(computeId, path, compute)
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    async listOperations(projectId, { limit = 100, cursor } = {}, options = {}) {
      const path = `${apiPath(projectId, 'operations')}${query({ limit, cursor })}`
      const page = await requester.read(path, wire.operationsAnswer, options)
      const next = page.operations.length === 0 ? undefined : (page.pagination?.cursor ?? undefined)
      return { operations: page.operations, ...defined({ cursor: next }) }
    },
    async getOperation(projectId, operationId, options) {
      const path = apiPath(projectId, 'operations', operationId)
      const operation = await requester.read(path, wire.operationAnswer, options)
      return checkId(operationId, path, operation)
    },
    serviceTime: () => requester.serviceTime(),
    close: () => {
      requester.close()
      return transport.close()
    },
  }
}

/** @throws {ApiError} `E_ANSWER` if the response is about something else. */
const checkId = <T extends { readonly id: string }>(id: string, path: string, answered: T): T => {
  if (answered.id === id) return answered
  throw new ApiError('E_ANSWER', `The control API responded with ${answered.id} instead of ${plainText(id)}`, {
    method: 'GET',
    path,
  })
}

const query = (values: Readonly<Record<string, string | number | undefined>>): string => {
  const entries = Object.entries(defined(values)).map(([name, value]): [string, string] => [name, String(value)])
  return `?${new URLSearchParams(entries)}`
}

/** The largest page of the API. */
const LARGEST_PAGE = 1_000

/** A project's operations, newest first. Keeps only one page in memory. */
export async function* streamOperations(
  api: ReadApi,
  projectId: string,
  clock: Pick<Clock, 'now'>,
): AsyncGenerator<wire.Operation> {
  const pages = timedItems(clock, apiPath(projectId, 'operations'), async (after) => {
    const { operations, cursor } = await api.listOperations(projectId, { limit: LARGEST_PAGE, ...after })
    return { items: operations, next: cursor }
  })
  for await (const page of pages) yield* page
}
