/** One project of the agent: runs its rounds, and holds its state between them. */
import { join, relative } from 'node:path'
import { ApiError, operationsReader, type WriteApi, withSettlements } from '../api/index.ts'
import { type Clock, EspalierError, type OnSignal } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import {
  type AgentStatus,
  type ApplyEvent,
  type MissedWindowView,
  type Observation,
  type Observed,
  type ObservedProject,
  type Plan,
  type ProjectView,
  type Released,
  unsettledIn,
} from '../model/index.ts'
import { releasedSince } from '../planner/index.ts'
import { releasedCounts } from '../report/index.ts'
import { apply, type Manifests, maxRestartsPolicy, planSnapshot, releasedPolicies } from '../workflow/index.ts'
import {
  afterApply,
  afterRecovery,
  afterRefresh,
  applied,
  beforeStep,
  usedIn,
  withApplied,
  withGap,
  withSettled,
} from './act/progress.ts'
import {
  begunChanges,
  type Gap,
  type Interrupted,
  movedBy,
  openedGap,
  readJournal,
  remainingGap,
  unresolvedFailures,
  waitForRunningOperations,
} from './act/recovery.ts'
import { isSuspended, type RoundView, type ShownDifference, type Suspension } from './control.ts'
import { type DataFolder, NEW_PROJECT_FILE, type ProjectFile, Stored } from './data-folder.ts'
import { adopted, type ProjectRecord } from './decide/origin.ts'
import { afterFailedRead, waitAfter } from './decide/retries.ts'
import { type Continuing, type Round, roundOf } from './decide/round.ts'
import type { AgentPolicy } from './decide/table.ts'
import { afterWindows, jittered, type WakeCause, wakesAfterRound } from './decide/wakes.ts'
import type { Accounts } from './source/accounts.ts'
import type { Declaration, DesiredState } from './source/desired-state.ts'
import { LiveProject } from './source/live-project.ts'
import { hasNews, isNotified, type Notifier } from './tell/notifier.ts'
import { concluded, isSameAs, type Shown, shownAs, type Usable, usableOf } from './tell/view.ts'

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
  /** Whether everything has to stop immediately, even a chain that has left a branch without its primary. */
  isAborting(): boolean
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
  readonly declaration: Declaration
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
  /** What the steps of this round did to connections. */
  #observations: readonly Observation[] = []
  /** Whether the last commit removed something that was not notified yet. */
  #isReleasing = false
  readonly #readOperations = operationsReader()
  /** Whether a failed operation, of anybody, has left a declared compute unsettled. */
  #isUnsettled = false
  /** The digest of the declaration that the displayed state refers to. */
  #concluded: string | undefined
  /** The record that the displayed differences come from. */
  #shownRecord: ProjectRecord | undefined
  /** The missed window that was not notified yet. */
  #missed: MissedWindowView | undefined
  /** The steps of the running apply. */
  #running: { readonly plan: Plan; readonly started: Set<string>; readonly done: Set<string> } | undefined
  /** What the last apply was decided on. A chain is finished with it if the history is rewritten meanwhile. */
  #begun: Pick<Decided, 'declaration' | 'manifests'> | undefined
  /** Aborted if the project is suspended while its steps are running. */
  #suspending = new AbortController()

  constructor(id: string, host: ProjectHost, file: ProjectFile = NEW_PROJECT_FILE) {
    this.id = id
    this.#host = host
    this.#stored = new Stored(file, (value) => host.data.writeProject(id, value))
    this.#live = new LiveProject(id, { ...host.clock, now: host.now }, host.random)
    this.#view = {
      id,
      account: host.accounts.of(id)?.account ?? '',
      state: 'Unknown',
      since: new Date(host.startedAt).toISOString(),
      sync: 'Unknown',
      differences: [],
      released: [],
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

  /** The branches that the agent has left without their primary. */
  get gap(): Gap | undefined {
    return (this.#running && openedGap(this.#running)) ?? this.#file.gap
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
    return isCurrent && (state === 'Synced' || state === 'OutOfSync') && !this.#isUnsettled
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

  /** @throws {EspalierError} `E_USAGE` if the commit or the differences are no longer those that were shown. */
  adopt(commit: string, shown: readonly ShownDifference[]): Promise<void> {
    const { version = '', digest, problem = '' } = this.#host.desired.of(this.id) ?? {}
    const { record } = this.#file
    const [before, differences] = [this.#shownRecord, this.#view.differences]
    const isCurrent = commit.length >= 7 && version.startsWith(commit) && problem === ''
    const isPlanned = before?.manifests === digest && record?.manifests === digest
    if (before === undefined || !isCurrent || !isPlanned || !isSameAs(shown, differences))
      throw new EspalierError(
        'E_USAGE',
        `The commit or the differences of ${this.id} have changed since they were shown.`,
        {
          hint: 'Look at them again before you adopt them.',
        },
      )
    return this.#save((file) => ({ ...file, record: file.record && adopted(file.record, before) }))
  }

  /** Clears the project's back-off, rejections and conflicts. */
  clearFailures(): Promise<void> {
    return this.#save((file) => ({ ...file, retryAt: undefined, refusals: [], reverts: [], failures: 0 }))
  }

  async round(cause: WakeCause, dueAt: number): Promise<RoundView> {
    const { now, desired, accounts } = this.#host
    const began = now()
    this.#observations = []
    const ended = (result: RoundView['result']): RoundView => ({
      project: this.id,
      result,
      durationMs: now() - began,
      delayMs: Math.max(0, began - dueAt),
      observations: this.#observations,
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
    const current = { declaration, manifests }
    const begun = declaration.history === 'rewritten' ? this.#begun : current
    const decide = async (isFull: boolean, continuing?: Continuing, using = current): Promise<Decided | undefined> =>
      this.#decide(using, await this.#live.refresh(key.api, isFull), continuing)
    let decided =
      chain === undefined || begun === undefined
        ? await decide(interrupted !== undefined || chain !== undefined || cause !== 'interval')
        : await decide(true, new Set(chain), begun)
    if (interrupted !== undefined) {
      const rest = decided && this.#plan
      this.#change((file) => afterRecovery(file, interrupted, rest, this.#host.now()))
    }
    if (chain !== undefined && begun !== undefined) {
      await this.#finishChain(decided, key.api)
      decided = await decide(true)
    }
    let applies = 0
    while (decided !== undefined && this.#mayRun(decided.round, applies)) {
      if (!this.#live.isFull) {
        decided = await decide(true)
        continue
      }
      await this.#show({ state: 'Progressing' }, declaration.version, {})
      const isInterrupted = await this.#apply(decided, key.api)
      applies += 1
      decided = await decide(true)
      if (isInterrupted) break
    }
    if (decided === undefined) this.#wakeNextInterval()
    else await this.#conclude(decided, key.api)
    return applies > 0
  }

  /** Plans the project. Returns `undefined` if that failed. In that case, the view shows why. */
  async #decide(
    { declaration, manifests: declared }: Pick<Decided, 'declaration' | 'manifests'>,
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
      now: now(),
      fetchedAt: desired.fetchedAt(),
    }
    const gap = (file: ProjectFile): Gap | undefined =>
      remainingGap(
        result.plan.steps.filter(({ change }) => file.chain?.includes(change)),
        observed,
      )
    // After a rewrite of the history, the plan need not contain the chain.
    await this.#save((file) => {
      const refreshed = afterRefresh(file, refresh)
      return declaration.history === 'rewritten' ? refreshed : withGap(refreshed, gap(file), now())
    })
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
    return { declaration, round, manifests, observed }
  }

  #mayRun({ steps }: Round, applies: number): boolean {
    const { now, isStopping } = this.#host
    const { retryAt } = this.#file
    if (isStopping() || applies >= MAX_APPLIES || (retryAt !== undefined && now() < retryAt)) return false
    return [...steps.values()].some(({ action }) => action === 'run')
  }

  /** @returns whether the apply was cut short: by a check that blocked it, by a suspension, or by the end of the agent. */
  async #apply({ declaration, manifests, observed, round }: Decided, api: WriteApi, isChain = false): Promise<boolean> {
    const { clock, now, data, policy, operationTimeoutMs, onSignal, isAborting } = this.#host
    const { version } = declaration
    const journal = await data.newJournal(this.id, version)
    this.#suspending = new AbortController()
    if (!isChain && isSuspended(this.#file.suspension, now())) return true
    const applying = { journal: relative(data.path, journal), version }
    await this.#save((file) => ({ ...file, applying }))
    this.#begun = { declaration, manifests }
    this.#running = { plan: round.plan, started: new Set(), done: new Set() }
    // A chain is stopped only by the second signal, which then counts as both.
    const onlySecond: OnSignal = (signal, handle) =>
      onSignal(signal, () => {
        if (isAborting()) for (const _ of [1, 2]) handle()
      })
    const result = await apply({
      manifests,
      planned: { manifests, observed, result: { ok: true, plan: round.plan } },
      open: async () => ({ api, close: async () => undefined }),
      clock,
      consent: { allow: policy.allow },
      ignoreWindows: isChain,
      concurrency: 1,
      operationTimeoutMs,
      journal,
      onSignal: isChain ? onlySecond : onSignal,
      signal: isChain ? undefined : this.#suspending.signal,
      watch: () => ({ event: (event) => this.#onApplyEvent(event, round.plan), end: async () => undefined }),
    }).finally(() => {
      this.#running = undefined
    })
    if (result.kind !== 'ended') return true
    const { plan, outcome } = result
    this.#observations = [...this.#observations, ...outcome.steps.flatMap(({ observation }) => observation ?? [])]
    const done = new Set(outcome.steps.filter(({ status }) => status === 'done').map(({ step }) => step))
    const failed = outcome.steps.filter(({ status }) => status === 'failed').map(({ step }) => step)
    const started = new Set([...done, ...failed])
    await this.#save((file) => {
      const after = withApplied(afterApply(file, plan, outcome, now()), applied(plan, done, version, now()))
      const gap = openedGap({ plan, started, done })
      return after.chain === undefined || gap !== undefined ? withGap(after, gap, now()) : after
    })
    return outcome.interrupted
  }

  /** Renews the lease before each call, and writes the attempt to disk before each step. */
  async #onApplyEvent(event: ApplyEvent, plan: Plan): Promise<void> {
    const { data, now, lost } = this.#host
    if (event.type === 'step-start') this.#running?.started.add(event.step.id)
    if (event.type === 'step-end' && event.outcome.status === 'done') this.#running?.done.add(event.outcome.step)
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
            moving: [...(file.moving ?? []), ...movedBy(interrupted)],
            chain: [...(file.chain ?? []), ...begunChanges(interrupted)],
          },
    )
    return interrupted
  }

  /** Completes a chain, even outside its window, if a branch would otherwise be left without its primary. */
  async #finishChain(decided: Decided | undefined, api: WriteApi): Promise<void> {
    const { now, isAborting } = this.#host
    const { gap, retryAt = 0 } = this.#file
    if (decided === undefined || gap === undefined || isAborting() || now() < retryAt) return
    if ([...decided.round.steps.values()].some(({ action }) => action === 'run')) await this.#apply(decided, api, true)
  }

  /** Shows the result of a round, and determines when the next one is due. */
  async #conclude({ declaration, round, manifests, ...decided }: Decided, api: WriteApi): Promise<void> {
    const observed = await withSettlements(api, decided.observed, this.#readOperations)
    const { now, random, wake, intervalOf } = this.#host
    const { failedOperations: failed } = this.#file
    const [project] = observed.projects
    if (project !== undefined && Object.keys(failed).length > 0) {
      const failedOperations = await unresolvedFailures(api, project, failed, now())
      this.#change((file) => ({ ...file, failedOperations }))
    }
    const isDue = this.#file.chain !== undefined || [...round.steps.values()].some(({ action }) => action === 'run')
    if (!isDue) this.#change((file) => ({ ...file, retryAt: undefined, failure: undefined, failures: 0 }))
    this.#isUnsettled = unsettledIn(observed.projects, round.whole).length > 0
    this.#shownRecord = this.#file.record
    const released = await this.#releasedBy(declaration, manifests, observed)
    const { status, shown } = concluded(round, this.#file, observed, declaration.history)
    await this.#show(status, declaration.version, { ...shown, released })
    // This is set last, because until now the displayed state was that of the previous declaration.
    this.#concluded = declaration.digest
    const times = { now: now(), interval: intervalOf(this.id), random }
    for (const { at, cause } of wakesAfterRound(this.#file, round, isDue, times)) wake(this.id, at, cause)
  }

  async #releasedBy(
    { replaced, digest }: Declaration,
    { loaded, review }: Manifests,
    observed: Observed,
  ): Promise<readonly Released[]> {
    if (replaced === undefined) return []
    const policiesOf = (project: ObservedProject) =>
      releasedPolicies(replaced.review?.policies, review?.policies, project)
    const released = [
      ...releasedSince(replaced.loaded.desired, loaded.desired, observed),
      ...observed.projects.flatMap(policiesOf),
    ]
    if (released.length === 0) await this.#host.desired.keptAll(this.id)
    else if (releasedCounts(released) !== '' && this.#file.releasedBy !== digest) {
      this.#isReleasing = true
      this.#change((file) => ({ ...file, releasedBy: digest }))
    }
    return released
  }

  async #notRead(error: ApiError, { version }: Declaration): Promise<void> {
    const { now, wake } = this.#host
    this.#readFailures += 1
    wake(this.id, now() + waitAfter(this.#readFailures), 'backoff')
    const { state, reason, version: planned } = this.#view
    const shown = this.#live.readAt === undefined ? undefined : { state, reason }
    const pending = planned === version ? '' : ` Version ${version.slice(0, 12)} is not planned yet.`
    const message = `The last read failed: ${error.message}${pending}`
    await this.#show(afterFailedRead(error.status, this.#readFailures, shown), planned ?? '', { message })
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
    const news =
      given.state === 'Progressing'
        ? undefined
        : { previous, applied, missedWindow: this.#missed, isReleasing: this.#isReleasing }
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
      this.#isReleasing = false
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
