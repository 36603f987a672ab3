/** Holds the displayed state of a project, and notifies of its changes. */
import type { AgentState, AgentStatus, MissedWindowView, ProjectView } from '../model/index.ts'
import type { ProjectStore } from './project-store.ts'
import type { Shared } from './shared.ts'
import type { LiveProject } from './source/live-project.ts'
import { isSuspended } from './suspension.ts'
import { hasNews, isNotified } from './tell/notifier.ts'
import { commandFor } from './tell/view.ts'

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
  #unreported: MissedWindowView | undefined

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

  missedWindow(missedWindow: MissedWindowView): void {
    this.#unreported = missedWindow
    this.#view = { ...this.#view, missedWindow, missedWindows: this.#view.missedWindows + 1 }
  }

  /** Shows a state. If the project is suspended, that takes precedence over every other state. */
  async show(given: AgentStatus, version: string, shown: Shown): Promise<void> {
    const { now, notifier, source, changed } = this.#shared
    const at = now()
    const { status: before, notified: previous = { state: 'Synced' }, applied, suspension } = this.#store.file
    const status: AgentStatus = isSuspended(suspension, at) ? { state: 'Suspended' } : given
    const isSame = before?.state === status.state && before.reason === status.reason
    const since = isSame ? before.since : at
    const isOver = given.state !== 'Progressing'
    this.#view = {
      ...this.#viewOf(status, version, shown, at),
      since: new Date(since).toISOString(),
      lastApply: (isOver ? applied : undefined) ?? this.#view.lastApply,
    }
    // The news is removed from the file before it is sent, so that it is sent at most once.
    await this.#store.saveAs((file) => ({
      ...file,
      applied: isOver ? undefined : applied,
      status: { ...status, since },
      notified: isNotified(status) ? { state: status.state, reason: status.reason } : previous,
    }))
    if (isOver) {
      const news = { previous, applied, missedWindow: this.#unreported }
      this.#unreported = undefined
      if (hasNews(status, news)) notifier?.notify(this.#view, news, source.from)
    }
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
