/** Reads the live state of a project with as few requests as possible. */
import { snapshot, type WriteApi } from '../../api/index.ts'
import type { Clock } from '../../base/index.ts'
import type { Observed } from '../../model/index.ts'

/**
 * The number of light refreshes that follow a full refresh. A light refresh reads only the computes, and a full one
 * also reads the branches and the project's settings. The number is random: after a start or a commit, many projects
 * have a full refresh at the same time, and their next full refreshes should be spread out.
 */
export const lightsAfterFull = (random: number): number => 3 + Math.floor(random * 5)

/** @param known the last snapshot, if it is enough to read the computes again, in one request. */
export const readProject = async (
  api: WriteApi,
  id: string,
  known: Observed | undefined,
  clock: Clock,
): Promise<{ readonly observed: Observed; readonly isFull: boolean }> => {
  const [project] = known?.projects ?? []
  if (known !== undefined && project !== undefined) {
    const computes = await api.listComputes(id)
    const branches = new Set(project.branches.map((branch) => branch.id))
    // A compute on an unknown branch requires a full refresh.
    if (computes.every(({ branchId }) => branches.has(branchId))) {
      const takenAt = new Date(clock.now()).toISOString()
      return { observed: { ...known, takenAt, projects: [{ ...project, computes }] }, isFull: false }
    }
  }
  return { observed: await snapshot(api, [id], { clock, refresh: true }), isFull: true }
}
