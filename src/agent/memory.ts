/** What the agent knows of a project between its rounds. The stages of a round read it and change it. */
import { operationsReader } from '../api/index.ts'
import type { Clock, OnSignal } from '../base/index.ts'
import type { MissedWindowView, Observation, Observed, Plan, ProjectView } from '../model/index.ts'
import type { RestartLimit } from './act/restart-limit.ts'
import { isSuspended } from './control.ts'
import { type DataFolder, NEW_PROJECT_FILE, type ProjectFile, Stored } from './data-folder.ts'
import type { ProjectRecord } from './decide/origin.ts'
import type { Unread } from './decide/retries.ts'
import type { Round } from './decide/round.ts'
import type { AgentPolicy, Stops } from './decide/table.ts'
import type { WakeCause } from './decide/wakes.ts'
import type { Accounts } from './source/accounts.ts'
import type { Basis, DesiredState } from './source/desired-state.ts'
import { LiveProject } from './source/live-project.ts'
import type { Notifier } from './tell/notifier.ts'
import type { Shown } from './tell/view.ts'

/** What a project needs from its agent. */
export interface ProjectHost {
  readonly source: { readonly from: string }
  readonly data: DataFolder
  readonly policy: AgentPolicy
  readonly restarts: RestartLimit
  readonly operationTimeoutMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly notifier?: Pick<Notifier, 'notify'>
  readonly desired: DesiredState
  readonly accounts: Accounts
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  now(): number
  /** Handles the first and the second SIGTERM. */
  readonly onSignal: OnSignal
  isStopping(): boolean
  /** Whether everything has to stop immediately, even a chain that has left a branch without its primary. */
  isAborting(): boolean
  /** In milliseconds. Lengthened if refreshing all of the account's projects would otherwise exceed the rate limit. */
  intervalOf(project: string): number
  isSettled(project: string): boolean
  /** The other projects of the account that could not be read when they were last tried. */
  unreadBeside(project: string): readonly ProjectView[]
  /** Whether the limit of restarts holds another project. */
  isHeldBeside(project: string): boolean
  /** When the clock last jumped, or the agent started. What was counted before does not count any more. */
  steadySince(): number
  log(line: string): void
  wake(project: string, at: number, cause: WakeCause): void
  /** Called when the view of a project has changed. */
  changed(): void
  /** Called if another agent has taken over the data folder, or the folder cannot be written. */
  lost(error: unknown): void
}

/** What a round does, and the values that it was decided on. */
export interface Decided extends Basis {
  readonly round: Round
  readonly observed: Observed
}

export class ProjectMemory {
  readonly id: string
  readonly host: ProjectHost
  /** What survives a restart. */
  readonly #stored: Stored<ProjectFile>
  readonly live: LiveProject
  view: ProjectView
  /** Why the manifests cannot be used. `undefined` if they can be. */
  invalid: Shown | undefined
  /** The last plan with all differences, including the differences on hold. */
  plan: Plan | undefined
  /** Why the project could not be read since it was last read. */
  unread: Unread | undefined
  /** Whether an event of another project of the account covers that this one cannot be read. */
  isCovered = false
  /** What the steps of this round did to connections. */
  observations: readonly Observation[] = []
  /** Whether the last commit removed something that was not notified yet. */
  isReleasing = false
  readonly readOperations = operationsReader()
  /** Whether a failed operation, of anybody, has left a declared compute unsettled. */
  isUnsettled = false
  /** The digest of the declaration that the displayed state refers to. */
  concluded: string | undefined
  /** The record that the displayed differences come from. */
  shownRecord: ProjectRecord | undefined
  /** The missed window that was not notified yet. */
  missed: MissedWindowView | undefined
  /** The steps of the running apply. */
  running: { readonly plan: Plan; readonly started: Set<string>; readonly done: Set<string> } | undefined
  /** Aborted if the project is suspended while its steps are running. */
  suspending = new AbortController()

  constructor(id: string, host: ProjectHost, file: ProjectFile = NEW_PROJECT_FILE) {
    this.id = id
    this.host = host
    this.#stored = new Stored(file, (value) => host.data.writeProject(id, value))
    this.live = new LiveProject(id, { ...host.clock, now: host.now }, host.random)
    this.view = {
      id,
      account: host.accounts.of(id)?.account ?? '',
      state: 'Unknown',
      since: new Date(host.startedAt).toISOString(),
      sync: 'Unknown',
      isFresh: false,
      was: file.status && { ...file.status, since: new Date(file.status.since).toISOString() },
      differences: [],
      released: [],
      scheduledSteps: 0,
      missedWindows: 0,
    }
  }

  get stops(): Stops {
    const { now, desired } = this.host
    return {
      isSuspended: isSuspended(this.file.suspension, now()),
      isInvalid: this.invalid !== undefined,
      history: desired.of(this.id)?.history ?? 'known',
    }
  }

  get file(): ProjectFile {
    return this.#stored.value
  }

  /** Changes the file, which is written with the next {@link ProjectMemory.save}. */
  change(change: (file: ProjectFile) => ProjectFile): void {
    this.#stored.value = change(this.file)
  }

  /** @param isNeeded whether it must be on disk before the agent goes on. While the disk is full, most of what a round records is not written. */
  async save(change: (file: ProjectFile) => ProjectFile, isNeeded = false): Promise<void> {
    const { applying, chain } = this.file
    if (this.host.data.isFull() && !isNeeded && applying === undefined && chain === undefined)
      return this.change(change)
    return this.#stored.save(change).catch((error: unknown) => {
      // After a failed write, no further work may be done.
      this.host.lost(error)
      throw error
    })
  }
}
