/** A project's live state, read with as few requests as possible. */
import { snapshot, type WriteApi } from '../api/index.ts'
import type { Observed } from '../model/index.ts'
import type { Shared } from './shared.ts'

/** A full refresh, with branches and project settings, runs this often; the others read only computes. */
const FULL_EVERY = 6

export class LiveProject {
  readonly #id: string
  readonly #shared: Shared
  #observed: Observed | undefined
  #lights = 0
  /** When it was last read. */
  readAt: number | undefined

  constructor(id: string, shared: Shared) {
    this.#id = id
    this.#shared = shared
  }

  /** Whether the last refresh was full. Only a full one may be applied from. */
  get isFull(): boolean {
    return this.#lights === 0
  }

  get name(): string | undefined {
    return this.#observed?.projects[0]?.name
  }

  /** A light refresh reads only the computes, in one request. */
  async refresh(api: WriteApi, isFull: boolean): Promise<Observed> {
    const { clock, now } = this.#shared
    const light = isFull || this.#lights >= FULL_EVERY - 1 ? undefined : await this.#readComputes(api)
    const observed = light ?? (await snapshot(api, [this.#id], { clock: { ...clock, now }, details: 'afresh' }))
    if (light === undefined) this.#observed = observed
    this.#lights = light === undefined ? 0 : this.#lights + 1
    this.readAt = now()
    return observed
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
      takenAt: new Date(this.#shared.now()).toISOString(),
      projects: [{ ...known, computes }],
    }
  }
}
