/** One project of the agent: runs its rounds, and holds its state between them. */
import { join, relative } from 'node:path'
import { ApiError, type WriteApi } from '../api/index.ts'
import { type Clock, EspalierError, type OnSignal } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import type { AgentStatus, ApplyEvent, MissedWindowView, Observed, Plan, ProjectView } from '../model/index.ts'
import { apply, type Manifests, maxRestartsPolicy, planSnapshot } from '../workflow/index.ts'
import {
  afterApply,
  afterRecovery,
  afterRefresh,
  applied,
  beforeStep,
  usedIn,
  withApplied,
  withSettled,
} from './act/progress.ts'
import {
  begunChanges,
  type Interrupted,
  leavesGap,
  movedBy,
  readJournal,
  unresolvedFailures,
  waitForRunningOperations,
} from './act/recovery.ts'
import { isSuspended, type RoundView, type Suspension } from './control.ts'
import { type DataFolder, NEW_PROJECT_FILE, type ProjectFile, Stored } from './data-folder.ts'
import { waitAfter } from './decide/retries.ts'
import { type Continuing, type Round, roundOf } from './decide/round.ts'
import type { AgentPolicy } from './decide/table.ts'
import { afterWindows, jittered, type WakeCause, wakesAfterRound } from './decide/wakes.ts'
import type { Accounts } from './source/accounts.ts'
import type { Declaration, DesiredState } from './source/desired-state.ts'
import { LiveProject } from './source/live-project.ts'
import { hasNews, isNotified, type Notifier } from './tell/notifier.ts'
import { afterFailedRead, concluded, type Shown, shownAs, type Usable, usableOf } from './tell/view.ts'

/** What a project needs from its agent. */
export interface ProjectHost {
  readonly source: { readonly from: string }
  readonly data: DataFolder
  readonly policy: AgentPolicy
  /** How many computes of a project may restart in 24 hours. */
  readonly maxRestarts?: number | undefined
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
  /** In milliseconds. Lengthened if refreshing all of the account's projects would otherwise exceed the rate limit. */
  intervalOf(project: string): number
  isSettled(project: string): boolean
  wake(project: string, at: number, cause: WakeCause): void
  /** Called when the view of a project has changed. */
  changed(): void
  /** Called if another agent has taken over the data folder, or the folder cannot be written. */
  lost(error: unknown): void
}

/** What a round does, and the values that it was decided on. */
interface Decided {
  readonly round: Round
  readonly manifests: Manifests
  readonly observed: Observed
}

/** An apply may unblock further steps. Steps that remain after this many applies wait for the next wake. */
const MAX_APPLIES = 3

export class AgentProject {
  readonly id: string
  readonly #host: ProjectHost
  /** What survives a restart. */
  readonly #stored: Stored<ProjectFile>
  readonly #live: LiveProject
  #view: ProjectView
  #plan: Plan | undefined
  #readFailures = 0
  /** The last time that a round ended without an API error. */
  #completedAt: number
  /** The digest of the declaration that the displayed state refers to. */
  #concluded: string | undefined
  /** The missed window that was not notified yet. */
  #missed: MissedWindowView | undefined
  /** Aborted if the project is suspended while its steps are running. */
  #suspending = new AbortController()

  constructor(id: string, host: ProjectHost, file: ProjectFile = NEW_PROJECT_FILE) {
    this.id = id
    this.#host = host
    this.#stored = new Stored(file, (value) => host.data.writeProject(id, value))
    this.#live = new LiveProject(id, { ...host.clock, now: host.now }, host.random)
    this.#completedAt = host.startedAt
    this.#view = {
      id,
      account: host.accounts.of(id)?.account ?? '',
      state: 'Unknown',
      since: new Date(host.startedAt).toISOString(),
      sync: 'Unknown',
      differences: [],
      scheduledSteps: 0,
      missedWindows: 0,
    }
  }

  get #file(): ProjectFile {
    return this.#stored.value
  }

  get view(): ProjectView {
    return this.#view
  }

  /** The last plan with all differences, including the differences on hold. */
  get plan(): Plan | undefined {
    return this.#plan
  }

  /** Whether an earlier run of the agent left work unfinished. If so, the first round starts without a delay. */
  get isPending(): boolean {
    const { applying, failures, wait } = this.#file
    return applying !== undefined || failures > 0 || wait !== undefined
  }

  /** Whether the project is reconciled with its declaration as far as possible, so that a later wave may start. */
  get isSettled(): boolean {
    const { state } = this.#view
    const isCurrent = this.#concluded !== undefined && this.#concluded === this.#host.desired.of(this.id)?.digest
    return isCurrent && (state === 'Synced' || state === 'OutOfSync')
  }

  /** Shows an unexpected error as the state of this project, so that the agent can go on. */
  async showError(error: unknown): Promise<void> {
    const declaration = this.#host.desired.of(this.id)
    if (declaration === undefined) return
    const message = error instanceof EspalierError ? error.message : `A bug in Espalier: ${String(error)}`
    await this.#show({ state: 'Failing' }, declaration.version, { message })
  }

  suspend(suspension: Suspension): Promise<void> {
    this.#suspending.abort()
    this.#host.wake(this.id, suspension.until, 'interval')
    return this.#save((file) => ({ ...file, suspension }))
  }

  resume(): Promise<void> {
    return this.#save((file) => ({ ...file, suspension: undefined }))
  }

  /** Clears the project's back-off, rejections and conflicts. */
  clearFailures(): Promise<void> {
    return this.#save((file) => ({ ...file, retryAt: undefined, refusals: [], reverts: [], failures: 0 }))
  }

  async round(cause: WakeCause, dueAt: number): Promise<RoundView> {
    const { now, desired, accounts } = this.#host
    const began = now()
    const ended = (result: RoundView['result']): RoundView => ({
      project: this.id,
      result,
      durationMs: now() - began,
      delayMs: Math.max(0, began - dueAt),
    })
    const declaration = desired.of(this.id)
    if (declaration === undefined) return ended('unchanged')
    const usable = usableOf(this.id, declaration, accounts.of(this.id))
    try {
      let isChanged = false
      if ('status' in usable) {
        await this.#show(usable.status, declaration.version, usable.shown)
        this.#wakeNextInterval()
      } else isChanged = await this.#reconcile(cause, declaration, usable)
      this.#readFailures = 0
      this.#completedAt = now()
      return ended(isChanged ? 'changed' : 'unchanged')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await this.#notRead(error, declaration)
      return ended('failed')
    }
  }

  /** @returns whether something was applied. */
  async #reconcile(cause: WakeCause, declaration: Declaration, { manifests, key }: Usable): Promise<boolean> {
    const isForced = cause !== 'interval' && cause !== 'backoff'
    if (isForced || this.#file.record?.manifests !== declaration.digest)
      this.#change((file) => ({ ...file, retryAt: undefined, failures: 0 }))
    const interrupted = await this.#recover(key.api)
    const { chain } = this.#file
    const decide = async (isFull: boolean, continuing?: Continuing): Promise<Decided | undefined> =>
      this.#decide(declaration, manifests, await this.#live.refresh(key.api, isFull), continuing)
    let decided = await decide(
      interrupted !== undefined || chain !== undefined || cause !== 'interval',
      chain && new Set(chain),
    )
    if (interrupted !== undefined) {
      const rest = decided && this.#plan
      this.#change((file) => afterRecovery(file, interrupted, rest, this.#host.now()))
    }
    if (chain !== undefined) {
      await this.#finishChain(decided, declaration, key.api)
      decided = await decide(true)
    }
    let applies = 0
    while (decided !== undefined && this.#mayRun(decided.round, applies)) {
      if (!this.#live.isFull) {
        decided = await decide(true)
        continue
      }
      await this.#show({ state: 'Progressing' }, declaration.version, {})
      const isInterrupted = await this.#apply(decided, declaration.version, key.api)
      applies += 1
      decided = await decide(true)
      if (isInterrupted) break
    }
    if (decided === undefined) this.#wakeNextInterval()
    else await this.#conclude(decided, declaration, key.api)
    return applies > 0
  }

  /** Plans the project. Returns `undefined` if that failed. In that case, the view shows why. */
  async #decide(
    declaration: Declaration,
    declared: Manifests,
    observed: Observed,
    continuing: Continuing,
  ): Promise<Decided | undefined> {
    const { now, desired, startedAt, maxRestarts, policy, isSettled } = this.#host
    const review = {
      ...declared.review,
      used: usedIn(this.#file, now()),
      ...(maxRestarts === undefined ? {} : { maxRestarts: maxRestartsPolicy(maxRestarts, 'day') }),
    }
    const manifests = { ...declared, review }
    const { result } = planSnapshot(observed, manifests)
    const [project] = observed.projects
    this.#plan = result.plan
    if (!result.ok || project === undefined) {
      const first = result.ok ? undefined : result.diagnostics.find(({ severity }) => severity === 'error')
      await this.#show({ state: 'Blocked', reason: 'PlanError' }, declaration.version, {
        message: first?.message ?? 'The project could not be planned.',
        sync: 'Unknown',
      })
      return undefined
    }
    const refresh = {
      desired: manifests.loaded.desired,
      project,
      program: VERSION,
      digest: declaration.digest,
      isNew: declaration.isNew,
      now: now(),
      fetchedAt: desired.fetchedAt(),
    }
    await this.#save((file) => afterRefresh(file, refresh))
    if (declaration.isNew) await desired.recorded(this.id)
    const isHeld = isSuspended(this.#file.suspension, now())
    const roundIf = (isSuspended: boolean): Round =>
      roundOf({
        observed,
        manifests,
        whole: result.plan,
        continuing,
        file: this.#file,
        situation: { policy, isSuspended, history: declaration.history },
        isWaveHeld: declaration.waitsFor().some((id) => !isSettled(id)),
        now: now(),
      })
    const round = roundIf(isHeld)
    if (continuing === undefined) {
      const unheld = isHeld ? roundIf(false) : round
      const { wait, missed } = afterWindows(unheld, this.#file.wait, {
        now: now(),
        runningSince: startedAt,
        isSuspended: isHeld,
      })
      await this.#save((file) => ({ ...file, wait, missed: missed ?? file.missed }))
      if (missed !== undefined) {
        this.#missed = missed
        this.#view = { ...this.#view, missedWindows: this.#view.missedWindows + 1 }
      }
    }
    return { round, manifests, observed }
  }

  #mayRun({ steps }: Round, applies: number): boolean {
    const { now, isStopping } = this.#host
    const { retryAt } = this.#file
    if (isStopping() || applies >= MAX_APPLIES || (retryAt !== undefined && now() < retryAt)) return false
    return [...steps.values()].some(({ action }) => action === 'run')
  }

  /** @returns whether the apply was cut short: by a check that blocked it, by a suspension, or by the end of the agent. */
  async #apply(
    { manifests, observed, round }: Decided,
    version: string,
    api: WriteApi,
    ignoreWindows = false,
  ): Promise<boolean> {
    const { clock, now, data, policy, operationTimeoutMs, onSignal } = this.#host
    const journal = await data.newJournal(this.id, version)
    this.#suspending = new AbortController()
    if (isSuspended(this.#file.suspension, now())) return true
    const applying = { journal: relative(data.path, journal), version }
    await this.#save((file) => ({ ...file, applying }))
    const result = await apply({
      manifests,
      planned: { manifests, observed, result: { ok: true, plan: round.plan } },
      open: async () => ({ api, close: async () => undefined }),
      clock,
      consent: { allow: policy.allow },
      ignoreWindows,
      concurrency: 1,
      operationTimeoutMs,
      journal,
      onSignal,
      signal: this.#suspending.signal,
      watch: () => ({ event: (event) => this.#onApplyEvent(event, round.plan), end: async () => undefined }),
    })
    if (result.kind !== 'ended') return true
    const { plan, outcome } = result
    const done = new Set(outcome.steps.filter(({ status }) => status === 'done').map(({ step }) => step))
    await this.#save((file) => withApplied(afterApply(file, plan, outcome, now()), applied(plan, done, version, now())))
    return outcome.interrupted
  }

  /** Renews the lease before each call, and writes the attempt to disk before each step. */
  async #onApplyEvent(event: ApplyEvent, plan: Plan): Promise<void> {
    const { data, now, lost } = this.#host
    try {
      if (event.type === 'call') await data.renew()
      if (event.type === 'step-start') await this.#save((file) => beforeStep(file, event.step, plan, now()))
    } catch (error) {
      lost(error)
      throw error
    }
  }

  /** Waits for the operations of an apply that an earlier run did not complete, and returns that apply, if any. */
  async #recover(api: WriteApi): Promise<Interrupted | undefined> {
    const { applying } = this.#file
    if (applying === undefined) return undefined
    const interrupted = await readJournal(join(this.#host.data.path, applying.journal))
    await waitForRunningOperations(api, this.id, this.#host.clock)
    this.#change((file) =>
      interrupted === undefined
        ? { ...withSettled(file), applying: undefined }
        : {
            ...withSettled(file),
            moving: movedBy(interrupted),
            chain: [...(file.chain ?? []), ...begunChanges(interrupted)],
          },
    )
    return interrupted
  }

  /** Completes a chain, even outside its window, if a branch would otherwise be left without its primary. */
  async #finishChain(decided: Decided | undefined, { version }: Declaration, api: WriteApi): Promise<void> {
    if (decided === undefined) return
    if (!leavesGap(decided.round.plan.steps, decided.observed)) this.#change((file) => ({ ...file, chain: undefined }))
    else if (this.#mayRun(decided.round, 0)) await this.#apply(decided, version, api, true)
  }

  /** Shows the result of a round, and determines when the next one is due. */
  async #conclude({ round, observed }: Decided, declaration: Declaration, api: WriteApi): Promise<void> {
    const { now, random, wake, intervalOf } = this.#host
    const { failedOperations: failed } = this.#file
    if (Object.keys(failed).length > 0) {
      const failedOperations = await unresolvedFailures(api, this.id, failed)
      this.#change((file) => ({ ...file, failedOperations }))
    }
    const isDue = this.#file.chain !== undefined || [...round.steps.values()].some(({ action }) => action === 'run')
    if (!isDue) this.#change((file) => ({ ...file, retryAt: undefined, failure: undefined, failures: 0 }))
    const { status, shown } = concluded(round, this.#file, observed, declaration.history)
    await this.#show(status, declaration.version, shown)
    // This is set last, because until now the displayed state was that of the previous declaration.
    this.#concluded = declaration.digest
    const times = { now: now(), interval: intervalOf(this.id), random }
    for (const { at, cause } of wakesAfterRound(this.#file, round, isDue, times)) wake(this.id, at, cause)
  }

  async #notRead(error: ApiError, { version }: Declaration): Promise<void> {
    const { now, wake, intervalOf } = this.#host
    this.#readFailures += 1
    wake(this.id, now() + waitAfter(this.#readFailures), 'backoff')
    const status = afterFailedRead(error.status, {
      wasRead: this.#live.readAt !== undefined,
      isRecent: now() - this.#completedAt < 3 * intervalOf(this.id),
      shown: this.#view.state,
    })
    if (status !== undefined) await this.#show(status, version, { message: error.message })
  }

  #wakeNextInterval(): void {
    const { now, wake, random, intervalOf } = this.#host
    wake(this.id, now() + jittered(intervalOf(this.id), random()), 'interval')
  }

  /** Shows a state, and notifies of it. If the project is suspended, that takes precedence over every other state. */
  async #show(given: AgentStatus, version: string, shown: Shown): Promise<void> {
    const { now, notifier, source, changed, accounts } = this.#host
    const at = now()
    const { status: before, notified: previous = { state: 'Synced' }, applied, suspension } = this.#file
    const status: AgentStatus = isSuspended(suspension, at) ? { state: 'Suspended' } : given
    const isSame = before?.state === status.state && before.reason === status.reason
    const since = isSame ? before.since : at
    const news = given.state === 'Progressing' ? undefined : { previous, applied, missedWindow: this.#missed }
    this.#view = {
      ...shownAs(status, { ...this.#view, version: version === '' ? undefined : version }, this.#file, shown, {
        now: at,
        since,
        readAt: this.#live.readAt,
      }),
      account: accounts.of(this.id)?.account ?? this.#view.account,
      name: this.#live.observed?.projects[0]?.name ?? this.#view.name,
      lastApply: news?.applied ?? this.#view.lastApply,
    }
    // The news is removed from the file before it is sent, so that it is sent at most once.
    await this.#save((file) => ({
      ...file,
      applied: news === undefined ? applied : undefined,
      status: { ...status, since },
      notified: isNotified(status) ? { state: status.state, reason: status.reason } : previous,
    }))
    if (news !== undefined) {
      this.#missed = undefined
      if (hasNews(status, news)) notifier?.notify(this.#view, news, source.from)
    }
    changed()
  }

  /** Changes the file, which is written with the next {@link AgentProject.#save}. */
  #change(change: (file: ProjectFile) => ProjectFile): void {
    this.#stored.value = change(this.#file)
  }

  #save(change: (file: ProjectFile) => ProjectFile): Promise<void> {
    return this.#stored.save(change).catch((error: unknown) => {
      // After a failed write, no further work may be done.
      this.#host.lost(error)
      throw error
    })
  }
}
