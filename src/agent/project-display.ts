/** Holds the displayed state of a project and its events, which are stored together with its record. */
import type { AgentState, AgentStatus, ProjectView } from '../model/index.ts'
import type { ProjectFile } from './data-folder.ts'
import type { LiveProject } from './live-project.ts'
import type { ProjectStore } from './project-store.ts'
import { commandFor } from './project-view.ts'
import type { Shared } from './shared.ts'
import { isSuspended } from './suspension.ts'

/** The fields of the view that the round determined. The other fields keep their previous values. */
export interface Shown {
  readonly message?: string | undefined
  /** Shown instead of the command that is usually suggested for the state. */
  readonly command?: string | undefined
  readonly differences?: ProjectView['differences']
  readonly sync?: ProjectView['sync']
  readonly scheduledSteps?: number
}

export class ProjectDisplay {
  readonly #shared: Shared
  readonly #store: ProjectStore
  readonly #live: LiveProject
  #view: ProjectView

  constructor(id: string, shared: Shared, store: ProjectStore, live: LiveProject) {
    this.#shared = shared
    this.#store = store
    this.#live = live
    this.#view = {
      id,
      account: shared.accounts.of(id)?.account ?? '',
      state: 'Unknown',
      since: new Date(shared.startedAt).toISOString(),
      sync: 'Unknown',
      differences: [],
      scheduledSteps: 0,
      missedWindows: 0,
    }
  }

  get view(): ProjectView {
    return this.#view
  }

  missedWindow(missedWindow: NonNullable<ProjectFile['missed']>): void {
    this.#view = { ...this.#view, missedWindow, missedWindows: this.#view.missedWindows + 1 }
  }

  /** Shows a state. If the project is suspended, that takes precedence over every other state. */
  async show(given: AgentStatus, version: string, shown: Shown): Promise<void> {
    const { now, keeper, changed } = this.#shared
    const at = now()
    const { status: before, applied, suspension } = this.#store.file
    const status: AgentStatus = isSuspended(suspension, at) ? { state: 'Suspended' } : given
    const isSame = before?.state === status.state && before.reason === status.reason
    const since = isSame ? before.since : at
    const isOver = given.state !== 'Progressing'
    this.#view = {
      ...this.#viewOf(status, version, shown, at),
      since: new Date(since).toISOString(),
      lastApply: (isOver ? applied : undefined) ?? this.#view.lastApply,
    }
    const events = isOver ? keeper?.afterRound(this.#view, this.#store.file.events, at) : undefined
    // A single write removes the apply and stores the event for it, so that neither can happen without the other.
    await this.#store.saveAs((file) => ({
      ...file,
      applied: isOver ? undefined : applied,
      status: { ...status, since },
      events: events ?? file.events,
    }))
    if (isOver) keeper?.onKept(this.#view.id)
    changed()
  }

  #viewOf(status: AgentStatus, version: string, shown: Shown, at: number): ProjectView {
    const { suspension, wait, retryAt, missed } = this.#store.file
    const last = this.#view
    const endOf: Partial<Record<AgentState, number | undefined>> = {
      Suspended: suspension?.until,
      Failing: retryAt,
      Scheduled: wait?.opensAt,
    }
    const isStopped = status.state === 'Suspended'
    return {
      ...last,
      state: status.state,
      reason: status.reason,
      account: this.#shared.accounts.of(last.id)?.account ?? last.account,
      name: this.#live.name ?? last.name,
      message: isStopped ? suspension?.reason : shown.message,
      command: (isStopped ? undefined : shown.command) ?? commandFor(last.id, status, version),
      until: timeOf(endOf[status.state]),
      sync: shown.sync ?? last.sync,
      differences: shown.differences ?? last.differences,
      scheduledSteps: shown.scheduledSteps ?? last.scheduledSteps,
      version: version === '' ? undefined : version,
      refreshedAt: timeOf(this.#live.readAt),
      windowOpensAt: wait !== undefined && wait.opensAt > at ? timeOf(wait.opensAt) : undefined,
      missedWindow: missed,
    }
  }
}

const timeOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()
