/** Limits the restarts of all projects of the agent together, in any 24 hours. */
import type { ProjectFile } from '../data-folder.ts'

const DAY = 24 * 60 * 60_000

type Files = () => Iterable<readonly [project: string, file: Pick<ProjectFile, 'attempts'>]>

export interface Wish {
  readonly restarts: number
  /** A smaller number goes first. */
  readonly wave: number
  /** Whether somebody has accepted that these restarts exceed the limit. They count nevertheless. */
  readonly isAccepted?: boolean
}

/** A round whose restarts wait. `freesAt` is when there may be room for them. */
export interface Held {
  readonly freesAt: number | undefined
}

interface Waiting extends Wish {
  readonly project: string
  readonly since: number
  /** The restarts of the project in the last 24 hours. */
  readonly used: number
}

/** A project may restart all the computes that it wants to restart, or waits. */
export class RestartLimit {
  readonly #limit: number
  readonly #files: Files
  /** By project whose steps are running: its restarts in the last 24 hours, together with those that it will cause. */
  readonly #reserved = new Map<string, number>()
  readonly #waiting = new Map<string, Waiting>()

  /** @param files the projects' files, whose attempts are the restarts so far. */
  constructor(limit: number | undefined, files: Files) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY
    this.#files = files
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Reserves restarts. Among projects that wait, the earlier wave goes first, then the older wish, then the project with
   * fewer restarts, then the smaller id.
   *
   * @returns whether they are reserved. Otherwise, the project waits, and `freesAt` is when there may be room.
   */
  take(project: string, wish: Wish, now: number): { readonly isFree: boolean; readonly freesAt?: number } {
    if (wish.restarts === 0) {
      this.#waiting.delete(project)
      return { isFree: true }
    }
    const past = [...this.#files()].flatMap(([id, file]) => restartsOf(file, now).map((at) => ({ id, at })))
    const usedBy = (id: string): number => past.filter((one) => one.id === id).length
    const own: Waiting = { ...wish, project, since: this.#waiting.get(project)?.since ?? now, used: usedBy(project) }
    this.#waiting.set(project, own)
    const ids = new Set([...past.map(({ id }) => id), ...this.#reserved.keys()])
    const used = [...ids].reduce((sum, id) => sum + Math.max(usedBy(id), this.#reserved.get(id) ?? 0), 0)
    const ahead = [...this.#waiting.values()].filter((one) => compareWaiting(one, own) <= 0)
    const excess = used + ahead.reduce((sum, { restarts }) => sum + restarts, 0) - this.#limit
    if (excess <= 0 || wish.isAccepted === true) {
      this.#waiting.delete(project)
      this.#reserved.set(project, own.used + wish.restarts)
      return { isFree: true }
    }
    const freed = past.map(({ at }) => at).sort((a, b) => a - b)[excess - 1]
    return freed === undefined ? { isFree: false } : { isFree: false, freesAt: freed + DAY }
  }

  /** Called when the steps of a project have ended. From then on, its file counts. @returns who goes next. */
  settle(project: string): string | undefined {
    this.#reserved.delete(project)
    return [...this.#waiting.values()].sort(compareWaiting)[0]?.project
  }

  forget(project: string): void {
    this.#waiting.delete(project)
  }
}

const compareWaiting = (a: Waiting, b: Waiting): number =>
  a.wave - b.wave ||
  a.since - b.since ||
  a.used - b.used ||
  (a.project < b.project ? -1 : a.project > b.project ? 1 : 0)

/** When the restarts of the last 24 hours took place. Those that the service refused do not count. */
const restartsOf = ({ attempts }: Pick<ProjectFile, 'attempts'>, now: number): readonly number[] =>
  attempts.flatMap(({ at, used }) => (at > now - DAY ? Array<number>(used.maxRestarts ?? 0).fill(at) : []))
