/** A deleted project is hidden from every client and can be recovered for a while; then its data is deleted (docs of the service). */
import type { BranchRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

const RECOVERABLE_MS = 7 * 86_400_000
/** A sandbox lives on somebody's laptop: tests that make and delete projects all day must not fill its disk. */
const MOST_RECOVERABLE = 10

/** Starts `suspend_compute` for each compute that is not idle, then `tenant_detach`; `delete_tenant` follows in the end. */
export const deleteProject = (world: World, id: string): ProjectRecord => {
  const { project, branches, computes } = world.project(id)
  world.checkUnlocked(id)
  if ([...branches.values()].some(({ isProtected }) => isProtected)) {
    throw new Refusal(422, 'cannot delete a project with protected branches')
  }
  const now = world.clock.now()
  const running = [...computes.values()].filter(({ state }) => state !== 'idle')
  world.commit(
    id,
    [
      { ...project, deletedAt: now, recoverableUntil: now + RECOVERABLE_MS },
      ...running.map((compute) => ({ ...compute, pendingState: 'idle' as const, updatedAt: now })),
    ],
    [
      ...running.map((compute) => ({ action: 'suspend_compute', branchId: compute.branchId, computeId: compute.id })),
      { action: 'tenant_detach', branchId: rootOf(branches) },
    ],
  )
  const recoverable = [...world.tables.projects.values()]
    .map(({ project: other }) => other)
    .filter(isRecoverable)
    .sort((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0))
  for (const oldest of recoverable.slice(MOST_RECOVERABLE))
    world.commit(oldest.id, [{ ...oldest, recoverableUntil: now }])
  return project
}

/**
 * Starts `tenant_attach`. Computes are idle, and keep their hosts.
 *
 * @throws {Refusal} 404 if there is no such project any more, 422 if it is not deleted.
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

/** The end of the time in which it could be recovered. `false`: not yet, an operation runs. */
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
