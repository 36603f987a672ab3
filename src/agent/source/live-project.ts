/** Reads the live state of a project with as few requests as possible. */
import { snapshot, type WriteApi } from '../../api/index.ts'
import type { Observed } from '../../model/index.ts'
import type { Shared } from '../shared.ts'

/**
 * The number of light refreshes that follow a full refresh. A light refresh reads only the computes, and a full one
 * also reads the branches and the project's settings. The number is random: after a start or a commit, many projects
 * have a full refresh at the same time, and their next full refreshes should be spread out.
 */
const lightsAfterFull = (random: number): number => 3 + Math.floor(random * 5)

export class LiveProject {
  readonly #id: string
  readonly #shared: Shared
  #observed: Observed | undefined
  #lightsLeft = 0
  /** Whether the last refresh was full. A plan may be applied only after a full one. */
  isFull = true
  /** When the project was last read. */
  readAt: number | undefined

  constructor(id: string, shared: Shared) {
    this.#id = id
    this.#shared = shared
  }

  get name(): string | undefined {
    return this.#observed?.projects[0]?.name
  }

  /** Reads the project. A light refresh reads only the computes, in one request. */
  async refresh(api: WriteApi, isFull: boolean): Promise<Observed> {
    const { clock, now, random } = this.#shared
    const light = isFull || this.#lightsLeft === 0 ? undefined : await this.#readComputes(api)
    this.#observed = light ?? (await snapshot(api, [this.#id], { clock: { ...clock, now }, refresh: true }))
    this.#lightsLeft = light === undefined ? lightsAfterFull(random()) : this.#lightsLeft - 1
    this.isFull = light === undefined
    this.readAt = now()
    return this.#observed
  }

  /** Returns `undefined` if the project was never read in full, or if a compute refers to an unknown branch. */
  async #readComputes(api: WriteApi): Promise<Observed | undefined> {
    const [known] = this.#observed?.projects ?? []
    if (this.#observed === undefined || known === undefined) return undefined
    const computes = await api.listComputes(this.#id)
    const branches = new Set(known.branches.map(({ id }) => id))
    if (!computes.every(({ branchId }) => branches.has(branchId))) return undefined
    return {
      ...this.#observed,
      takenAt: new Date(this.#shared.now()).toISOString(),
      projects: [{ ...known, computes }],
    }
  }
}
