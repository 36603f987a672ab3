/**
 * A deleted project is hidden from clients and can be recovered for a while. Then its data is deleted (docs of the
 * service).
 */
import { type BranchRecord, isRunning, operationOn, type ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

const RECOVERABLE_MS = 7 * 86_400_000
/** Keeps tests that create and delete projects all day from filling the disk. */
const MOST_RECOVERABLE = 10

/** Starts `suspend_compute` for each running compute, then `tenant_detach`. */
export const deleteProject = (world: World, id: string): ProjectRecord => {
  const { project, branches, computes } = world.project(id)
  world.checkUnlocked(id)
  if ([...branches.values()].some(({ isProtected }) => isProtected)) {
    throw new Refusal(422, 'cannot delete a project with protected branches')
  }
  const now = world.clock.now()
  const running = [...computes.values()].filter(isRunning)
  world.commit(
    id,
    [
      { ...project, deletedAt: now, recoverableUntil: now + RECOVERABLE_MS },
      ...running.map((compute) => ({ ...compute, pendingState: 'idle' as const, updatedAt: now })),
    ],
    [
      ...running.map((compute) => operationOn(compute, 'suspend_compute')),
      { action: 'tenant_detach', branchId: rootOf(branches) },
    ],
  )
  const recoverable = [...world.tables.projects.values()]
    .map(({ project: other }) => other)
    .filter(isRecoverable)
    .sort((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0))
  for (const oldest of recoverable.slice(MOST_RECOVERABLE)) {
    world.commit(oldest.id, [{ ...oldest, recoverableUntil: now }])
  }
  return project
}

/**
 * Starts `tenant_attach`. The computes are idle and keep their host names.
 *
 * @throws {Refusal} 404 if the project does not exist or its data is already deleted, 422 if it is not deleted.
 */
export const recoverProject = (
  world: World,
  id: string,
): { readonly project: ProjectRecord; readonly branches: readonly BranchRecord[] } => {
  const tables = world.tables.projects.get(id)
  if (tables === undefined) throw new Refusal(404, 'project not found')
  const { deletedAt, recoverableUntil, ...project } = tables.project
  if (deletedAt === undefined) throw new Refusal(422, 'project is not deleted')
  if (recoverableUntil === undefined) throw new Refusal(404, 'project not found')
  world.checkIdle(tables)
  const { branches } = tables
  world.commit(
    id,
    [{ ...project, updatedAt: world.clock.now() }],
    [{ action: 'tenant_attach', branchId: rootOf(branches) }],
  )
  return { project, branches: [...branches.values()] }
}

/** Deletes the data of a deleted project: it starts `delete_tenant`. Returns false if an operation is in the way. */
export const purgeProject = (world: World, id: string): boolean => {
  const tables = world.tables.projects.get(id)
  if (tables === undefined || !isRecoverable(tables.project)) return true
  if (tables.unfinished.size > 0) return false
  const { recoverableUntil, ...project } = tables.project
  world.commit(
    id,
    [project],
    [{ action: 'delete_tenant', branchId: rootOf(tables.branches) }],
    [...tables.computes.values()],
  )
  return true
}

export const isRecoverable = ({ deletedAt, recoverableUntil }: ProjectRecord): boolean =>
  deletedAt !== undefined && recoverableUntil !== undefined

const rootOf = (branches: ReadonlyMap<string, BranchRecord>): string => [...branches.keys()][0] ?? ''
