/** Finds the operation that probably caused each drift. This is the newest operation that could have caused it. */
import { countReads, type OnReading, type Operation, optionalRead, type ReadApi } from '../api/index.ts'
import { groupBy, mapConcurrently } from '../base/index.ts'
import type { Change, Difference, Observed } from '../model/index.ts'

/** How many operations to read for each project with drift. They are read in one request. */
const NEWEST = 200
const AT_ONCE = 8

/** If the operations of a project cannot be read, its differences are shown without them. */
export const withOperations = async (
  api: ReadApi,
  differences: readonly Difference[],
  { projects }: Observed,
  onReading?: OnReading,
): Promise<readonly Difference[]> => {
  const drifted = groupBy(
    differences.filter(({ mover }) => mover !== 'manifest'),
    ({ change }) => change.project,
  )
  const counted = countReads('past operations', drifted.size, onReading)
  const operations = new Map(
    await mapConcurrently(
      [...drifted.keys()],
      AT_ONCE,
      async (project) => [project, await counted(newest(api, project))] as const,
    ),
  )
  const live = new Set(projects.flatMap(({ computes }) => computes.map(({ id }) => id)))
  return differences.map((difference) => {
    const { change, mover } = difference
    const own = mover === 'manifest' ? undefined : operations.get(change.project)?.find(concerns(change, live))
    if (own?.endpointId === undefined) return difference
    const { id, action, createdAt, endpointId } = own
    return { ...difference, lastOperation: { id, action, createdAt, computeId: endpointId } }
  })
}

const newest = async (api: ReadApi, project: string): Promise<readonly Operation[]> =>
  (await optionalRead(api.listOperations(project, { limit: NEWEST })))?.operations ?? []

/** A delete or move starts no operation. For a deleted compute, its last operation is shown instead. */
const concerns =
  ({ kind, compute, branch }: Change, live: ReadonlySet<string>) =>
  ({ action, endpointId, branchId }: Operation): boolean => {
    if (kind === 'create') return endpointId !== undefined && branchId === branch.id && !live.has(endpointId)
    return kind === 'update' && endpointId === compute.id && action === 'apply_config'
  }
