/** The set of the agent's projects, which follows its manifests. */
import { EspalierError } from '../base/index.ts'
import { startDelay } from './decide/wakes.ts'
import type { ProjectHost } from './memory.ts'
import { AgentProject } from './project.ts'

export class Projects {
  readonly #host: ProjectHost
  readonly #forget: (project: string) => void
  readonly #declared = new Map<string, AgentProject>()
  /** The projects that are no longer declared. One may be declared again while its last round is still running. */
  readonly #removed = new Map<string, AgentProject>()
  #isFirst = true

  /** @param forget called when a project is no longer declared. */
  constructor(host: ProjectHost, forget: (project: string) => void) {
    this.#host = host
    this.#forget = forget
  }

  get ids(): readonly string[] {
    return [...this.#declared.keys()]
  }

  get all(): readonly AgentProject[] {
    return [...this.#declared.values()]
  }

  /** Also the projects that are no longer declared, as long as something is stored of them. */
  get known(): readonly AgentProject[] {
    return [...this.#declared.values(), ...this.#removed.values()]
  }

  get(id: string): AgentProject | undefined {
    return this.#declared.get(id)
  }

  /** @throws {EspalierError} `E_USAGE` */
  named(asked: readonly string[] | 'all'): readonly AgentProject[] {
    if (asked === 'all') return this.all
    return asked.map((id) => {
      const project = this.#declared.get(id)
      if (project !== undefined) return project
      throw new EspalierError('E_USAGE', `This agent has no project ${id}.`, {
        hint: 'To list its projects, run `espalier agent status`.',
      })
    })
  }

  /**
   * Starts the projects that are newly declared, and stops the projects that are no longer declared, unless an apply of
   * theirs is unfinished.
   *
   * @param changed the projects whose declaration has changed.
   * @returns the projects that were stopped.
   */
  async follow(declared: readonly string[], changed: ReadonlySet<string>): Promise<readonly string[]> {
    const { wake, now, intervalOf } = this.#host
    const unfinished = this.#isFirst ? await this.#openStored(new Set(declared)) : []
    const added = [...declared, ...unfinished].filter((id) => !this.#declared.has(id))
    for (const id of added) {
      this.#declared.set(id, await this.#open(id))
      this.#removed.delete(id)
    }
    for (const [index, id] of added.entries()) {
      const project = this.#declared.get(id)
      const isUrgent = !this.#isFirst || project?.isPending === true
      const delay = isUrgent ? 0 : startDelay(index, added.length, intervalOf(id))
      wake(id, now() + delay, project?.gap !== undefined ? 'window' : isUrgent ? 'commit' : 'reconcile')
    }
    const still = new Set(declared)
    const gone = [...this.#declared].filter(([id, { isUnfinished }]) => !still.has(id) && !isUnfinished)
    for (const [id, project] of gone) {
      this.#declared.delete(id)
      this.#removed.set(id, project)
      this.#forget(id)
    }
    this.#isFirst = false
    for (const id of changed) if (this.#declared.has(id) && !added.includes(id)) wake(id, now(), 'commit')
    return gone.map(([id]) => id)
  }

  /**
   * Opens the projects of which something is stored, although they are not declared. Most of them count only for the
   * limit of restarts, so the agent can go on if the file of one is damaged.
   *
   * @returns those that are unfinished.
   */
  async #openStored(declared: ReadonlySet<string>): Promise<readonly string[]> {
    for (const id of await this.#host.data.storedProjects()) {
      if (declared.has(id)) continue
      try {
        this.#removed.set(id, await this.#open(id))
      } catch (error) {
        if (!(error instanceof EspalierError)) throw error
        this.#host.log(`${id} is no longer declared, and its restarts do not count: ${error.message}`)
      }
    }
    return [...this.#removed.values()].flatMap(({ id, isUnfinished }) => (isUnfinished ? [id] : []))
  }

  async #open(id: string): Promise<AgentProject> {
    return this.#removed.get(id) ?? new AgentProject(id, this.#host, await this.#host.data.readProject(id))
  }
}
