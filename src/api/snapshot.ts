/** Reads the live state of projects. Plans are based on it. */
import { type Clock, DEFAULT_CONCURRENCY, defined, mapConcurrently, systemClock } from '../base/index.ts'
import {
  hasRecentChange,
  type Observed,
  type ObservedProject,
  type PastOperation,
  type Settlement,
  settlementOf,
  type UnreadableProject,
} from '../model/index.ts'
import type { OperationsPage, ReadApi } from './client.ts'
import { ApiError, isNotFound, optionalRead } from './errors.ts'
import { countReads, type OnReading } from './reading.ts'
import type { Operation, Project } from './wire.ts'

/**
 * Reads branches, computes and details of each project: three requests per project plus paging, with several projects
 * at a time (default 16). Projects that do not exist, or that the key cannot see, are in `missing`; those that cannot
 * be read for another reason are in `unreadable`.
 *
 * @throws {ApiError} for problems that affect all projects: the key, the connection, the rate limit, or a service that
 *   fails for all of the first projects.
 */
export const snapshot = async (
  api: ReadApi,
  projectIds: readonly string[],
  options: SnapshotOptions = {},
): Promise<Observed> => {
  const { concurrency = DEFAULT_CONCURRENCY, clock = systemClock, refresh = false } = options
  const counted = countReads('projects', projectIds.length, options.onReading)
  const takenAt = new Date(clock.now()).toISOString()
  const unreadable = new Map<string, UnreadableProject>()
  let isAnyRead = false
  const found = await mapConcurrently(projectIds, concurrency, async (id) => {
    try {
      const project = await counted(readProject(api, id, refresh))
      isAnyRead = true
      return project
    } catch (error) {
      if (!(error instanceof ApiError) || !affectsOneProject(error)) throw error
      unreadable.set(id, { id, message: error.message, ...defined({ hint: error.hint }) })
      // If all of the first projects fail, do not try hundreds more.
      if (!isAnyRead && unreadable.size >= Math.min(concurrency, projectIds.length)) throw error
      return undefined
    }
  })
  const missing = projectIds.filter((id, index) => found[index] === undefined && !unreadable.has(id))
  const namesakes = await namesakesOf(api, missing)
  return {
    takenAt,
    projects: found.filter((project) => project !== undefined),
    missing,
    ...(namesakes.length === 0 ? {} : { namesakes }),
    ...(unreadable.size === 0 ? {} : { unreadable: projectIds.flatMap((id) => unreadable.get(id) ?? []) }),
  }
}

export interface SnapshotOptions {
  readonly concurrency?: number
  readonly clock?: Clock | undefined
  readonly onReading?: OnReading | undefined
  /** Whether to read names and settings again, even if they are cached. Default: no. */
  readonly refresh?: boolean
}

/** How many missing projects to search for by name. */
const MOST_SEARCHED = 8

/** Users may have written a project's name instead of its id. */
const namesakesOf = async (api: ReadApi, missing: readonly string[]): Promise<NonNullable<Observed['namesakes']>> => {
  const found = await mapConcurrently(missing.slice(0, MOST_SEARCHED), MOST_SEARCHED, async (name) => ({
    name,
    ids: (await projectsNamed(api, name)).map(({ id }) => id),
  }))
  return found.filter(({ ids }) => ids.length > 0)
}

/** Projects with this name. Empty if the key may not search. */
export const projectsNamed = async (api: ReadApi, name: string): Promise<readonly Project[]> => {
  const wanted = name.toLowerCase()
  const found = (await optionalRead(api.searchProjects(name))) ?? []
  return found.filter((project) => project.name.toLowerCase() === wanted && project.id !== name)
}

/** A wrong key and the rate limit affect all projects. */
const ACCOUNT_STATUSES = new Set([401, 429])

const affectsOneProject = ({ code, status }: ApiError): boolean =>
  code === 'E_ANSWER' || (code === 'E_API' && status !== undefined && !ACCOUNT_STATUSES.has(status))

const readProject = async (api: ReadApi, id: string, refresh: boolean): Promise<ObservedProject | undefined> => {
  try {
    const [shown, branches, computes] = await Promise.all([
      api.projectDetails(id, { refresh }),
      api.listBranches(id),
      api.listComputes(id),
    ])
    return { id, branches, computes, ...(shown && { name: shown.name, settings: shown.settings }) }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Enough to estimate how long operations take. */
const NEWEST = 200
const LARGEST_PAGE = 1_000
/** How many pages of operations to read at most, to find out whether computes are settled. */
const MOST_PAGES = 3

export const newestOperations = (api: ReadApi, projectId: string): Promise<OperationsPage> =>
  api.listOperations(projectId, { limit: NEWEST })

/** What is known of past operations. */
type Past = Required<Pick<ObservedProject, 'pastOperations' | 'operationsSince'>>

/** Reads the newest 200 operations. Returns the finished ones, and the time from which the list is complete. */
export const pastOperations = async (api: ReadApi, projectId: string): Promise<Past> => {
  const { operations } = await newestOperations(api, projectId)
  return pastOf(operations, sinceOf(operations, NEWEST))
}

/** The time from which the list is complete, in milliseconds. If the last page is not full, that is the beginning. */
const sinceOf = (operations: readonly Operation[], full: number): number => {
  const oldest = operations.length < full ? undefined : operations.at(-1)
  return oldest === undefined ? 0 : Date.parse(oldest.createdAt)
}

const pastOf = (operations: readonly Operation[], since: number): Past => ({
  operationsSince: new Date(since).toISOString(),
  pastOperations: operations
    .filter(({ status }) => status === 'finished')
    .map(
      (operation): PastOperation => ({
        action: operation.action,
        durationMs: operationMs(operation),
        ...(operation.endpointId !== undefined && STARTS_AND_SUSPENDS.has(operation.action)
          ? { computeId: operation.endpointId, at: operation.createdAt }
          : {}),
      }),
    )
    // Invalid times must not prevent a plan.
    .filter(({ durationMs }) => Number.isFinite(durationMs)),
})

/**
 * The project with its past operations, and with what they say about its computes. Reads as many pages as that takes,
 * but at most three.
 *
 * @param first the newest operations, if they were already read.
 */
export const withOperations = async (
  api: ReadApi,
  project: ObservedProject,
  first = newestOperations(api, project.id),
): Promise<ObservedProject> => {
  let page = await first
  let { operations } = page
  let full = NEWEST
  for (let pages = 1; ; pages += 1) {
    const since = sinceOf(operations, full)
    const settlement = settlementOf(project.computes, operations, { now: api.serviceTime(), since })
    if (settlement.unknown.length === 0 || pages === MOST_PAGES || page.cursor === undefined)
      return { ...project, ...pastOf(operations, since), settlement }
    page = await api.listOperations(project.id, { limit: LARGEST_PAGE, cursor: page.cursor })
    operations = [...operations, ...page.operations]
    full += LARGEST_PAGE
  }
}

/** Reads the operations of a project. If they cannot be read, the project is returned without them. */
export type ReadOperations = (
  api: ReadApi,
  project: ObservedProject,
  first?: Promise<OperationsPage>,
) => Promise<ObservedProject>

/** Returns a reader that reads the operations of a project again only if one of its computes has changed since. */
export const operationsReader = (): ReadOperations => {
  const known = new Map<string, { readonly key: string; readonly settlement: Settlement }>()
  return async (api, project, first) => {
    const shown = project.computes.map(({ id, updatedAt, startedAt, state }) => [id, updatedAt, startedAt, state])
    const key = JSON.stringify(shown)
    const before = known.get(project.id)
    if (before?.key === key) return { ...project, settlement: before.settlement }
    const read = await optionalRead(withOperations(api, project, first))
    // A failure may leave the compute as it is, so operations that have not ended are read again.
    if (read?.settlement?.open.length === 0) known.set(project.id, { key, settlement: read.settlement })
    return read ?? project
  }
}

/** Adds to each project that has changed recently what its operations say about its computes. */
export const withSettlements = async (api: ReadApi, observed: Observed, read: ReadOperations): Promise<Observed> => {
  const projects = await mapConcurrently(observed.projects, DEFAULT_CONCURRENCY, async (project) => {
    if (!hasRecentChange(project.computes, api.serviceTime())) return project
    const { settlement } = await read(api, project)
    return { ...project, ...defined({ settlement }) }
  })
  return { ...observed, projects }
}

/** Used to determine how long each compute was active. */
const STARTS_AND_SUSPENDS = new Set(['start_compute', 'suspend_compute'])

/** Duration of a finished operation, in milliseconds. */
export const operationMs = ({
  totalDurationMs,
  createdAt,
  updatedAt,
}: Pick<Operation, 'totalDurationMs' | 'createdAt' | 'updatedAt'>): number =>
  totalDurationMs ?? Math.max(0, Date.parse(updatedAt) - Date.parse(createdAt))
