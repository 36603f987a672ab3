/** The live projects at one moment: what a plan is made against. */
import { mapConcurrently, systemClock } from '../base/index.ts'
import {
  type Clock,
  DEFAULT_CONCURRENCY,
  type Observed,
  type ObservedProject,
  type PastOperation,
  type UnreadableProject,
} from '../model/index.ts'
import type { ReadApi } from './client.ts'
import { ApiError, isNotFound } from './errors.ts'
import { countReads, type OnReading } from './reading.ts'
import type { Project } from './wire.ts'

/**
 * Branches, computes and name of each project: three requests a project plus paging, less where the list of projects has
 * the names; several projects at once (default 16). A
 * project that does not exist, or that the key cannot see, is in `missing`; one that cannot be read for another reason is
 * in `unreadable`.
 *
 * @throws {ApiError} for what is not one project's problem: the key, the connection, the rate limit, or a service that
 *   answers for none of the first projects.
 */
export const snapshot = async (
  api: ReadApi,
  projectIds: readonly string[],
  options: SnapshotOptions = {},
): Promise<Observed> => {
  const { concurrency = DEFAULT_CONCURRENCY, clock = systemClock, details = true } = options
  const counted = countReads('projects', projectIds.length, options.onReading)
  const takenAt = new Date(clock.now()).toISOString()
  const unreadable = new Map<string, UnreadableProject>()
  let isAnyRead = false
  const found = await mapConcurrently(projectIds, concurrency, async (id) => {
    try {
      const project = await counted(readProject(api, id, details))
      isAnyRead = true
      return project
    } catch (error) {
      if (!(error instanceof ApiError) || !isOfOneProject(error)) throw error
      unreadable.set(id, unreadableProject(id, error))
      // Where all projects of the first round fail alike, trying hundreds more would only take time.
      if (!isAnyRead && unreadable.size >= Math.min(concurrency, projectIds.length)) throw error
      return undefined
    }
  })
  const missing = projectIds.filter((id, index) => found[index] === undefined && !unreadable.has(id))
  return {
    takenAt,
    projects: found.filter((project) => project !== undefined),
    missing,
    ...(await namesakesOf(api, missing)),
    ...(unreadable.size === 0 ? {} : { unreadable: projectIds.flatMap((id) => unreadable.get(id) ?? []) }),
  }
}

export interface SnapshotOptions {
  readonly concurrency?: number
  readonly clock?: Clock
  readonly onReading?: OnReading | undefined
  /** Whether to read the projects' names and settings too: a request each, once a client or `afresh`. Default: yes. */
  readonly details?: boolean | 'afresh'
}

/** More that are missing than this are not all mistaken names. */
const MOST_SEARCHED = 8

/** People know projects by name, and write the name where the id belongs. */
const namesakesOf = async (api: ReadApi, missing: readonly string[]): Promise<Pick<Observed, 'namesakes'>> => {
  const found = await mapConcurrently(missing.slice(0, MOST_SEARCHED), MOST_SEARCHED, async (name) => {
    const ids = (await projectsNamed(api, name)).map(({ id }) => id)
    return ids.length === 0 ? [] : [{ name, ids }]
  })
  const namesakes = found.flat()
  return namesakes.length === 0 ? {} : { namesakes }
}

/** None if the key may not search. */
export const projectsNamed = async (api: ReadApi, name: string): Promise<readonly Project[]> => {
  try {
    const wanted = name.toLowerCase()
    const found = await api.searchProjects(name)
    return found.filter((project) => project.name.toLowerCase() === wanted && project.id !== name)
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}

/** A wrong key and a rate limit concern every project. */
const OF_THE_ACCOUNT = new Set([401, 429])

const isOfOneProject = ({ code, status }: ApiError): boolean =>
  code === 'E_ANSWER' ||
  code === 'E_ANSWER_SIZE' ||
  (code === 'E_API' && status !== undefined && !OF_THE_ACCOUNT.has(status))

const unreadableProject = (id: string, { message, hint }: ApiError): UnreadableProject => ({
  id,
  message,
  ...(hint === undefined ? {} : { hint }),
})

const readProject = async (
  api: ReadApi,
  id: string,
  details: SnapshotOptions['details'],
): Promise<ObservedProject | undefined> => {
  try {
    const [shown, branches, computes] = await Promise.all([
      details === false ? undefined : api.projectDetails(id, { afresh: details === 'afresh' }),
      api.listBranches(id),
      api.listComputes(id),
    ])
    return { id, branches, computes, ...(shown && { name: shown.name, settings: shown.settings }) }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Finished operations of the newest page (default 200) with their durations, and the time since which the page is complete. */
export const pastOperations = async (
  api: ReadApi,
  projectId: string,
  limit = 200,
): Promise<Required<Pick<ObservedProject, 'pastOperations' | 'operationsSince'>>> => {
  const { operations } = await api.listOperations(projectId, { limit })
  const oldest = operations.at(-1)
  return {
    // A page that is not full is the last one.
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
      // Invalid times are left out of the estimate; they must not stop a plan.
      .filter(({ durationMs }) => Number.isFinite(durationMs)),
  }
}

/** From these follows how long each compute was active. */
const STARTS_AND_SUSPENDS = new Set(['start_compute', 'suspend_compute'])

/** How long a finished operation took. */
export const operationMs = ({
  totalDurationMs,
  createdAt,
  updatedAt,
}: {
  readonly totalDurationMs?: number
  readonly createdAt: string
  readonly updatedAt: string
}): number => totalDurationMs ?? Math.max(0, Date.parse(updatedAt) - Date.parse(createdAt))
