/** One look at the live projects: what a plan is made against. */
import type { Clock, Observed, ObservedProject, PastOperation } from '../model/index.ts'
import type { ReadApi } from './client.ts'
import { systemClock } from './clock.ts'
import { isNotFound } from './errors.ts'

/**
 * Branches and computes of each project: two requests a project plus paging, several projects at once (default 8).
 * A project that does not exist, or that the key cannot see, is in `missing`.
 *
 * @throws {ApiError} for anything else that goes wrong.
 */
export const snapshot = async (
  api: ReadApi,
  projectIds: readonly string[],
  options: { concurrency?: number; clock?: Clock } = {},
): Promise<Observed> => {
  const takenAt = new Date((options.clock ?? systemClock).now()).toISOString()
  const found: (ObservedProject | undefined)[] = new Array(projectIds.length)
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < projectIds.length; index = next++) {
      found[index] = await look(api, projectIds[index] ?? '')
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency ?? 8, projectIds.length) }, worker))
  return {
    takenAt,
    projects: found.filter((project) => project !== undefined),
    missing: projectIds.filter((_, index) => found[index] === undefined),
  }
}

const look = async (api: ReadApi, id: string): Promise<ObservedProject | undefined> => {
  try {
    const [branches, computes] = await Promise.all([api.listBranches(id), api.listComputes(id)])
    return { id, branches, computes }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Finished operations of the newest page (default 200), with how long each took. */
export const pastOperations = async (
  api: ReadApi,
  projectId: string,
  limit = 200,
): Promise<readonly PastOperation[]> => {
  const { operations } = await api.listOperations(projectId, { limit })
  return (
    operations
      .filter(({ status }) => status === 'finished')
      .map((operation) => ({ action: operation.action, durationMs: operationMs(operation) }))
      // Times that are none leave the estimate without them, and stop no plan.
      .filter(({ durationMs }) => Number.isFinite(durationMs))
  )
}

/** How long an operation that is over took. */
export const operationMs = ({
  totalDurationMs,
  createdAt,
  updatedAt,
}: {
  readonly totalDurationMs?: number
  readonly createdAt: string
  readonly updatedAt: string
}): number => totalDurationMs ?? Math.max(0, Date.parse(updatedAt) - Date.parse(createdAt))
