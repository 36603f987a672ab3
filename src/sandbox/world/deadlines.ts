/** Runs work that is due at a set time: when a branch expires, or when a deleted project can no longer be recovered. */
import { deleteBranch } from './branch-commands.ts'
import { purgeProject } from './project-commands.ts'
import type { BranchRecord } from './records.ts'
import { ApiError } from './requests.ts'
import { Timers } from './timers.ts'
import type { World } from './world.ts'

/** The delay before the next attempt if the project is locked by another operation. */
const BUSY_MS = 60_000
/** The delay before the next attempt after any other error. */
const REJECTED_MS = 3_600_000

export const enforceDeadlines = (world: World): void => {
  const timers = new Timers(world)
  const set = (id: string, time: number | undefined, task: () => void): void => {
    if (time === undefined) timers.cancel(id)
    else timers.set(id, time, task)
  }
  const expire = ({ id, projectId }: BranchRecord): void => {
    const branch = world.tables.projects.get(projectId)?.branches.get(id)
    if (branch === undefined) return
    try {
      deleteBranch(world, projectId, id)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const wait = error.status === 423 ? BUSY_MS : REJECTED_MS
      timers.set(id, world.clock.now() + wait, () => expire(branch))
    }
  }
  const purge = (id: string): void => {
    if (!purgeProject(world, id)) timers.set(id, world.clock.now() + BUSY_MS, () => purge(id))
  }
  world.watch({
    branch: (branch) => {
      const { id, expiresAt } = branch
      set(id, expiresAt === undefined ? undefined : Date.parse(expiresAt), () => expire(branch))
    },
    project: ({ id, recoverableUntil }) => set(id, recoverableUntil, () => purge(id)),
  })
}
