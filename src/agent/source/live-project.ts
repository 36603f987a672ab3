/** Reads the live state of a project with as few requests as possible. */
import { snapshot, type WriteApi } from '../../api/index.ts'
import type { Clock } from '../../base/index.ts'
import type { Observed } from '../../model/index.ts'

/**
 * The number of light refreshes that follow a full refresh. A light refresh reads only the computes, and a full one
 * also reads the branches and the project's settings. The number is random: after a start or a commit, many projects
 * have a full refresh at the same time, and their next full refreshes should be spread out.
 */
const lightsAfterFull = (random: number): number => 3 + Math.floor(random * 5)

export class LiveProject {
  /** The last snapshot. */
  observed: Observed | undefined
  /** Whether the last refresh was full. A plan may be applied only after a full one. */
  isFull = true
  /** When the project was last read. */
  readAt: number | undefined
  readonly #id: string
  readonly #clock: Clock
  readonly #random: () => number
  #lightsLeft = 0

  constructor(id: string, clock: Clock, random: () => number) {
    this.#id = id
    this.#clock = clock
    this.#random = random
  }

  async refresh(api: WriteApi, isFull: boolean): Promise<Observed> {
    const light = isFull || this.#lightsLeft === 0 ? undefined : await this.#withNewComputes(api)
    this.isFull = light === undefined
    this.#lightsLeft = light === undefined ? lightsAfterFull(this.#random()) : this.#lightsLeft - 1
    this.observed = light ?? (await snapshot(api, [this.#id], { clock: this.#clock, refresh: true }))
    this.readAt = this.#clock.now()
    return this.observed
  }

  /** The last snapshot with the current computes. A compute on an unknown branch requires a full refresh. */
  async #withNewComputes(api: WriteApi): Promise<Observed | undefined> {
    const [project] = this.observed?.projects ?? []
    if (this.observed === undefined || project === undefined) return undefined
    const computes = await api.listComputes(this.#id)
    const branches = new Set(project.branches.map(({ id }) => id))
    if (!computes.every(({ branchId }) => branches.has(branchId))) return undefined
    const takenAt = new Date(this.#clock.now()).toISOString()
    return { ...this.observed, takenAt, projects: [{ ...project, computes }] }
  }
}
