/** What happens at a time that was set: a branch expires, a deleted project can be recovered no more. */
import { deleteBranch } from './branch-commands.ts'
import { purgeProject } from './project-deletion.ts'
import type { BranchRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

/** How soon to try again where an operation is in the way. */
const BUSY_MS = 60_000
/** And where a rule does. */
const REFUSED_MS = 3_600_000

export class Deadlines {
  readonly #world: World
  readonly #timers = new Map<string, () => void>()

  constructor(world: World) {
    this.#world = world
    world.watch({
      branch: (branch) => this.#set(branch.id, expiryOf(branch), () => this.#expire(branch)),
      project: ({ id, recoverableUntil }) => this.#set(id, recoverableUntil, () => this.#purge(id)),
      emptied: () => this.#timers.clear(),
    })
  }

  /** @param time `undefined`: there is none any more. */
  #set(id: string, time: number | undefined, task: () => void): void {
    this.#timers.get(id)?.()
    this.#timers.delete(id)
    if (time === undefined) return
    const ring = (): void => {
      this.#timers.delete(id)
      task()
    }
    this.#timers.set(id, this.#world.at(time, ring))
  }

  #expire({ id, projectId }: BranchRecord): void {
    const branch = this.#world.tables.projects.get(projectId)?.branches.get(id)
    if (branch === undefined) return
    try {
      deleteBranch(this.#world, projectId, id)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const wait = error.status === 423 ? BUSY_MS : REFUSED_MS
      this.#set(id, this.#world.clock.now() + wait, () => this.#expire(branch))
    }
  }

  #purge(id: string): void {
    if (!purgeProject(this.#world, id)) this.#set(id, this.#world.clock.now() + BUSY_MS, () => this.#purge(id))
  }
}

const expiryOf = ({ expiresAt }: BranchRecord): number | undefined =>
  expiresAt === undefined ? undefined : Date.parse(expiresAt)
