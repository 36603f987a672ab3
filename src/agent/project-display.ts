/** A project's displayed state and its events, stored with its record. */
import type { ProjectFile } from './data-folder.ts'
import type { LiveProject } from './live-project.ts'
import type { ProjectStore } from './project-store.ts'
import { type Shown, shownProject, unknownProject } from './project-view.ts'
import type { Shared } from './shared.ts'
import type { Status } from './state.ts'
import { isSuspended } from './suspension.ts'
import type { ProjectView } from './view.ts'

export class ProjectDisplay {
  readonly #id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  readonly #live: LiveProject
  #view: ProjectView

  constructor(id: string, shared: Shared, store: ProjectStore, live: LiveProject) {
    this.#id = id
    this.#shared = shared
    this.#store = store
    this.#live = live
    this.#view = unknownProject(id, shared.accounts.of(id)?.account ?? '', shared.startedAt)
  }

  get view(): ProjectView {
    return this.#view
  }

  missedWindow(missedWindow: NonNullable<ProjectFile['missed']>): void {
    this.#view = { ...this.#view, missedWindow, missedWindows: this.#view.missedWindows + 1 }
  }

  /** A suspension takes precedence over every other state. */
  async show(given: Status, version: string, shown: Shown): Promise<void> {
    const { now, keeper, accounts, changed } = this.#shared
    const at = now()
    const status: Status = isSuspended(this.#store.file.suspension, at) ? { state: 'Suspended' } : given
    const { status: before } = this.#store.file
    const isSame = before?.state === status.state && before.reason === status.reason
    const since = isSame ? before.since : at
    const isOver = given.state !== 'Progressing'
    const { applied } = this.#store.file
    this.#store.change((file) => ({ ...(isOver ? withoutApplied(file) : file), status: { ...status, since } }))
    const last = isOver && applied !== undefined ? { ...this.#view, lastApply: applied } : this.#view
    this.#view = shownProject(last, status, this.#store.file, shown, {
      at,
      since,
      account: accounts.of(this.#id)?.account,
      name: this.#live.name,
      version,
      readAt: this.#live.isRead ? this.#live.readAt : undefined,
    })
    const events = isOver ? keeper?.afterRound(this.#view, this.#store.file.events, at) : undefined
    await this.#store.saveAs((file) => (events === undefined ? file : { ...file, events }))
    if (isOver) keeper?.onKept(this.#id)
    changed()
  }
}

/** The apply has been displayed; its event is part of the same write. */
const withoutApplied = ({ applied: _, ...file }: ProjectFile): ProjectFile => file
