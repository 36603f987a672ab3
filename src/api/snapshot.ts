/** Reads the live state of projects. Plans are based on it. */
import { type Clock, defined, mapConcurrently, systemClock } from '../base/index.ts'
import {
  DEFAULT_CONCURRENCY,
  type Observed,
  type ObservedProject,
  type PastOperation,
  type UnreadableProject,
} from '../model/index.ts'
import type { ReadApi } from './client.ts'
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
  code === 'E_ANSWER' ||
  code === 'E_ANSWER_SIZE' ||
  (code === 'E_API' && status !== undefined && !ACCOUNT_STATUSES.has(status))

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

/**
 * Reads the newest operations (default 200). Returns the finished ones, and the time from which the list is complete.
 */
export const pastOperations = async (
  api: ReadApi,
  projectId: string,
  limit = 200,
): Promise<Required<Pick<ObservedProject, 'pastOperations' | 'operationsSince'>>> => {
  const { operations } = await api.listOperations(projectId, { limit })
  const oldest = operations.at(-1)
  return {
    // If the page is not full, it contains all operations.
    operationsSince: operations.length < limit || oldest === undefined ? new Date(0).toISOString() : oldest.createdAt,
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
  }
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
