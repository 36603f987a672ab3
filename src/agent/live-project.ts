/** A project's live state, read with as few requests as possible. */
import { snapshot, type WriteApi } from '../api/index.ts'
import type { Clock, Observed } from '../model/index.ts'

/** A full refresh, with branches and project settings, runs this often; the others read only computes. */
const FULL_EVERY = 6

export class LiveProject {
  readonly #id: string
  readonly #clock: Clock
  readonly #now: () => number
  #observed: Observed | undefined
  #lights = 0
  /** When it was last read. */
  readAt: number

  constructor(id: string, clock: Clock, now: () => number, startedAt: number) {
    this.#id = id
    this.#clock = clock
    this.#now = now
    this.readAt = startedAt
  }

  /** Whether the last refresh was full. Only a full one may be applied from. */
  get isFull(): boolean {
    return this.#lights === 0
  }

  get isRead(): boolean {
    return this.#observed !== undefined
  }

  get name(): string | undefined {
    return this.#observed?.projects[0]?.name
  }

  /** A light refresh reads only the computes, in one request. */
  async refresh(api: WriteApi, isFull: boolean): Promise<Observed> {
    const light = isFull || this.#lights >= FULL_EVERY - 1 ? undefined : await this.#readComputes(api)
    if (light === undefined)
      this.#observed = await snapshot(api, [this.#id], {
        clock: { ...this.#clock, now: this.#now },
        details: 'afresh',
      })
    this.#lights = light === undefined ? 0 : this.#lights + 1
    this.readAt = this.#now()
    return light ?? (this.#observed as Observed)
  }

  /** `undefined` if a compute refers to an unknown branch. */
  async #readComputes(api: WriteApi): Promise<Observed | undefined> {
    const [known] = this.#observed?.projects ?? []
    if (this.#observed === undefined || known === undefined) return undefined
    const computes = await api.listComputes(this.#id)
    const branches = new Set(known.branches.map(({ id }) => id))
    if (!computes.every(({ branchId }) => branches.has(branchId))) return undefined
    return {
      ...this.#observed,
      takenAt: new Date(this.#now()).toISOString(),
      projects: [{ ...known, computes }],
    }
  }
}
