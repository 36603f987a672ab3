/** One project: its rounds, and what is known of it in between. */
import { ApiError, type WriteApi } from '../api/index.ts'
import { EspalierError } from '../base/index.ts'
import { type ApplyEvent, type Observed, type Outcome, type Plan, stepTitle } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { apply, type Manifests, planSnapshot } from '../workflow/index.ts'
import type { KeyOfProject } from './accounts.ts'
import type { ProjectFile } from './data-folder.ts'
import type { Declaration } from './desired-state.ts'
import { LiveProject } from './live-project.ts'
import { afterApply, afterRefresh, beforeApply, beforeStep, budgetsLeft } from './memory.ts'
import { roundOf } from './project-round.ts'
import { ProjectStore, withoutFailure } from './project-store.ts'
import { differencesOf, type Shown, shownProject, unknownProject } from './project-view.ts'
import { begunChanges, leavesGap, movedBy, operationsStuck, readJournal, waitForOpen } from './recovery.ts'
import { jittered } from './request-share.ts'
import { waitAfter } from './retries.ts'
import type { Round } from './round.ts'
import type { Shared } from './shared.ts'
import { type Status, worstOf } from './state.ts'
import { isSuspended, type Suspension } from './suspension.ts'
import type { ApplyView, ProjectView, RoundView } from './view.ts'
import { missedWindow, waitingOf, windowedSteps } from './waiting.ts'
import { type WakeCause, windowWakes } from './wakes.ts'

const MINUTE = 60_000
/** An apply may let the next one go ahead; what still is not done after these waits for its next wake. */
const MAX_APPLIES = 3

interface Decided {
  readonly round: Round
  readonly manifests: Manifests
  readonly observed: Observed
}

export class AgentProject {
  readonly id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  readonly #live: LiveProject
  #refreshFailures = 0
  #plan: Plan | undefined
  #view: ProjectView
  /** Aborted when the project is suspended while steps run. */
  #suspending = new AbortController()

  constructor(id: string, shared: Shared, file: ProjectFile | undefined) {
    this.id = id
    this.#shared = shared
    this.#store = new ProjectStore(id, shared.data, file, shared.lost)
    this.#live = new LiveProject(id, shared.clock, shared.now, shared.startedAt)
    this.#view = unknownProject(id, shared.accounts.of(id)?.account ?? '', shared.startedAt)
  }

  get view(): ProjectView {
    return this.#view
  }

  get plan(): Plan | undefined {
    return this.#plan
  }

  get kept(): unknown {
    return this.#store.file.events
  }

  /** Work that waited while no agent ran comes first. */
  get isPending(): boolean {
    const { applying, failures, wait } = this.#store.file
    return applying !== undefined || failures > 0 || wait !== undefined
  }

  /** As far as it goes, it is as declared now: a later wave may follow. */
  get isSettled(): boolean {
    const { state } = this.#view
    const isCurrent = this.#store.file.record?.manifests === this.#shared.desired.of(this.id)?.digest
    return isCurrent && (state === 'Synced' || state === 'OutOfSync')
  }

  wakeForWave(): void {
    this.#shared.wake(this.id, this.#shared.now(), 'commit')
  }

  /** By a bug of ours: that concerns this project, and does not end the agent. */
  async broke(error: unknown): Promise<void> {
    const declaration = this.#shared.desired.of(this.id)
    if (declaration === undefined) return
    const what = error instanceof EspalierError ? error.message : `A bug in Espalier: ${String(error)}`
    await this.#show({ state: 'Failing' }, declaration, { message: what })
  }

  keep(change: (kept: unknown) => unknown): Promise<void> {
    return this.#store.saveAs((file) => ({ ...file, events: change(file.events) }))
  }

  suspend(suspension: Suspension): Promise<void> {
    this.#suspending.abort()
    this.#shared.wake(this.id, suspension.until, 'interval')
    return this.#store.saveAs((file) => ({ ...file, suspension }))
  }

  resume(): Promise<void> {
    return this.#store.saveAs(({ suspension: _, ...file }) => file)
  }

  /** Forgets what keeps it from trying again. */
  forgive(): Promise<void> {
    return this.#store.saveAs(({ retryAt: _, ...file }) => ({ ...file, refusals: [], reverts: [], failures: 0 }))
  }

  async round(cause: WakeCause, dueAt: number): Promise<RoundView> {
    const { now } = this.#shared
    const began = now()
    const ended = (result: RoundView['result']): RoundView => ({
      project: this.id,
      result,
      durationMs: now() - began,
      delayMs: Math.max(0, began - dueAt),
    })
    const declaration = this.#shared.desired.of(this.id)
    const key = this.#shared.accounts.of(this.id)
    if (declaration === undefined) return ended('unchanged')
    if (key === undefined) {
      await this.#show({ state: 'Invalid' }, declaration, { message: `No key of --keys is for project ${this.id}.` })
      return ended('unchanged')
    }
    try {
      return ended((await this.#reconcile(cause, declaration, key)) ? 'changed' : 'unchanged')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await this.#notRead(error, declaration)
      return ended('failed')
    }
  }

  /** @returns whether something was applied. */
  async #reconcile(cause: WakeCause, declaration: Declaration, key: KeyOfProject): Promise<boolean> {
    const { manifests } = declaration
    const foreign = key.foreignFile(declaration.files)
    const problem =
      foreign === undefined ? declaration.problem : `${foreign} may not declare ${this.id}: its key has other paths.`
    if (problem !== undefined || manifests === undefined) {
      await this.#show({ state: problem === undefined ? 'Unknown' : 'Invalid' }, declaration, { message: problem })
      this.#wakeLater()
      return false
    }
    const isForced = cause !== 'interval' && cause !== 'backoff'
    if (isForced || this.#store.file.record?.manifests !== declaration.digest)
      this.#store.change(({ retryAt: _, ...file }) => ({ ...file, failures: 0 }))
    const chain = await this.#recover(key.api)
    const decide = async (isFull: boolean, continuing?: ReadonlySet<string>): Promise<Decided | undefined> =>
      this.#decide(declaration, manifests, await this.#read(key.api, isFull), continuing)
    if (chain.size > 0) await this.#finishChain(await decide(true, chain), declaration, key.api)
    // Not before its chain is brought to an end: the agent may be killed again.
    this.#store.change(({ applying: _, ...file }) => file)
    let decided = await decide(cause !== 'interval')
    let applies = 0
    while (decided !== undefined && this.#mayRun(decided.round, applies)) {
      if (!this.#live.isFull) {
        decided = await decide(true)
        continue
      }
      await this.#show({ state: 'Progressing' }, declaration, {})
      const outcome = await this.#apply(decided, declaration, key.api)
      applies += 1
      decided = await decide(true)
      if (outcome?.interrupted !== false) break
    }
    if (decided !== undefined) await this.#conclude(decided.round, declaration, key.api)
    return applies > 0
  }

  /** Outside its window, only a chain that would leave a branch without its primary continues. */
  async #finishChain(decided: Decided | undefined, declaration: Declaration, api: WriteApi): Promise<void> {
    if (decided === undefined || !this.#mayRun(decided.round, 0)) return
    if (leavesGap(decided.round.plan.steps, decided.observed)) await this.#apply(decided, declaration, api, true)
  }

  #mayRun({ steps }: Round, applies: number): boolean {
    const { now, isStopping } = this.#shared
    if (isStopping() || applies >= MAX_APPLIES) return false
    if (this.#store.file.retryAt !== undefined && now() < this.#store.file.retryAt) return false
    return [...steps.values()].some(({ action }) => action === 'run')
  }

  async #read(api: WriteApi, isFull: boolean): Promise<Observed> {
    const observed = await this.#live.refresh(api, isFull)
    this.#refreshFailures = 0
    return observed
  }

  /** `undefined` if it cannot be planned. */
  async #decide(
    declaration: Declaration,
    manifests: Manifests,
    observed: Observed,
    continuing?: ReadonlySet<string>,
  ): Promise<Decided | undefined> {
    const { now, desired } = this.#shared
    const planned = planSnapshot(observed, manifests)
    const [project] = observed.projects
    this.#plan = planned.result.plan
    if (!planned.result.ok || project === undefined) {
      const [first] = planned.result.ok ? [] : planned.result.diagnostics.filter(({ severity }) => severity === 'error')
      await this.#show({ state: 'Blocked', reason: 'PlanError' }, declaration, {
        message: first === undefined ? 'The project could not be planned.' : first.message,
        sync: 'Unknown',
      })
      this.#wakeLater()
      return undefined
    }
    const seen = {
      desired: manifests.loaded.desired,
      project,
      program: VERSION,
      digest: declaration.digest,
      isNew: declaration.isNew,
      now: now(),
      fetchedAt: desired.fetchedAt(),
    }
    await this.#store.saveAs((file) => afterRefresh(file, seen))
    if (declaration.isNew) await desired.recorded(this.id)
    const suspended = isSuspended(this.#store.file.suspension, now())
    const decided = {
      round: roundOf(declaration, manifests, observed, this.#store.file, this.#shared, {
        isSuspended: suspended,
        continuing,
      }),
      manifests,
      observed,
    }
    if (continuing === undefined) await this.#watchWindow(declaration, decided)
    return decided
  }

  /** Remembers what waits for a window, and reports one that passed without it. */
  async #watchWindow(declaration: Declaration, { round, manifests, observed }: Decided): Promise<void> {
    const { now, startedAt } = this.#shared
    const at = now()
    const suspended = isSuspended(this.#store.file.suspension, at)
    const active = suspended
      ? roundOf(declaration, manifests, observed, this.#store.file, this.#shared, { isSuspended: false })
      : round
    const steps = windowedSteps(active.plan, active.steps)
    const { wait: known } = this.#store.file
    const missed = missedWindow(known, steps.length > 0, { now: at, runningSince: startedAt, isSuspended: suspended })
    const wait = waitingOf(steps, missed === undefined ? known : undefined, at)
    await this.#store.saveAs(({ wait: _, ...file }) => ({
      ...file,
      ...(wait === undefined ? {} : { wait }),
      ...(missed === undefined ? {} : { missed }),
    }))
    if (missed === undefined) return
    this.#view = { ...this.#view, missedWindow: missed, missedWindows: this.#view.missedWindows + 1 }
  }

  async #apply(
    { manifests, observed, round }: Decided,
    { version }: Declaration,
    api: WriteApi,
    ignoreWindows = false,
  ): Promise<Outcome | undefined> {
    const { clock, now, policy, budgets, operationTimeoutMs, onSignal } = this.#shared
    const left = budgetsLeft(budgets, this.#store.file, now())
    const journal = await this.#shared.journalFor(this.id, version)
    this.#suspending = new AbortController()
    if (isSuspended(this.#store.file.suspension, now())) return undefined
    await this.#store.saveAs((file) => beforeApply(file, round.plan, journal, now()))
    const applied = await apply({
      manifests,
      planned: { manifests, observed, result: { ok: true, plan: round.plan } },
      open: async () => ({ api, close: async () => undefined }),
      clock,
      consent: { allow: policy.allow },
      budgets: left,
      ignoreWindows,
      concurrency: 1,
      operationTimeoutMs,
      journal,
      onSignal,
      signal: this.#suspending.signal,
      watch: () => ({ event: (event) => this.#onEvent(event), end: async () => undefined }),
    })
    if (applied.kind !== 'ended') return undefined
    await this.#applied(applied.plan, applied.outcome, version)
    return applied.outcome
  }

  /** Before each call: the lease still holds, and the attempt is on disk. */
  async #onEvent(event: ApplyEvent): Promise<void> {
    try {
      if (event.type === 'call') await this.#shared.data.renew()
      if (event.type !== 'step-start') return
      const { step } = event
      await this.#store.saveAs((file) => beforeStep(file, step, this.#shared.now()))
    } catch (error) {
      this.#shared.lost(error)
      throw error
    }
  }

  async #applied(plan: Plan, outcome: Outcome, version: string): Promise<void> {
    const { now } = this.#shared
    await this.#store.saveAs((file) => afterApply(file, plan, outcome, now()))
    const done = new Set(outcome.steps.filter(({ status }) => status === 'done').map(({ step }) => step))
    const steps = plan.steps.filter(({ id }) => done.has(id))
    if (steps.length === 0) return
    const changes = new Map(plan.changes.map((change) => [change.id, change]))
    const lastApply: ApplyView = {
      at: new Date(now()).toISOString(),
      version,
      done: steps.map((step) => stepTitle(step, changes)),
      interruptions: steps.filter(({ impact }) => impact !== 'none').length,
    }
    this.#view = { ...this.#view, lastApply }
  }

  /** @returns the changes of a chain that an earlier run of the agent began and did not end. */
  async #recover(api: WriteApi): Promise<ReadonlySet<string>> {
    const { applying: journal } = this.#store.file
    if (journal === undefined) return new Set()
    const interrupted = await readJournal(journal)
    await waitForOpen(api, this.id, this.#shared)
    if (interrupted !== undefined) this.#store.change((file) => ({ ...file, moving: movedBy(interrupted) }))
    return interrupted === undefined || interrupted.hasEnded ? new Set() : begunChanges(interrupted)
  }

  /** A new value is shown before it is in effect, so an empty plan does not prove that a failed operation came to its end. */
  async #checkFailedOperations(api: WriteApi): Promise<void> {
    const { failedOperations: failed } = this.#store.file
    if (Object.keys(failed).length === 0) return
    const failedOperations = await operationsStuck(api, this.id, failed)
    this.#store.change((file) => ({ ...file, failedOperations }))
  }

  async #conclude(round: Round, declaration: Declaration, api: WriteApi): Promise<void> {
    await this.#checkFailedOperations(api)
    const at = this.#shared.now()
    const isDue = [...round.steps.values()].some(({ action }) => action === 'run')
    if (!isDue) this.#store.change(withoutFailure)
    const [stuck] = Object.values(this.#store.file.failedOperations)
    const message = this.#store.file.failure ?? stuck?.message
    const status = worstOf([
      round.status,
      ...(isSuspended(this.#store.file.suspension, at) ? [{ state: 'Suspended' } as const] : []),
      ...(message === undefined ? [] : [{ state: 'Failing' } as const]),
      ...(declaration.history === 'rewritten' ? [{ state: 'Blocked', reason: 'HistoryRewritten' } as const] : []),
      ...(declaration.history === 'stale' ? [{ state: 'Blocked', reason: 'GitStale' } as const] : []),
    ])
    await this.#show(status, declaration, {
      message: status.state === 'Failing' ? message : undefined,
      differences: differencesOf(round.whole, round, this.#store.file),
      sync: round.whole.changes.length === 0 ? 'Synced' : 'OutOfSync',
      scheduledSteps: [...round.steps.values()].filter(({ action }) => action === 'wait').length,
    })
    this.#wakeAgain(round, isDue)
  }

  #wakeAgain({ verdicts }: Round, isDue: boolean): void {
    const { now, wake, random } = this.#shared
    const at = now()
    const { retryAt, wait } = this.#store.file
    this.#wakeLater()
    if (retryAt !== undefined) wake(this.id, retryAt, 'backoff')
    else if (isDue) wake(this.id, at + MINUTE, 'backoff')
    if ([...verdicts.values()].some(({ reason }) => reason === 'DriftUnconfirmed'))
      wake(this.id, at + MINUTE, 'interval')
    if (wait === undefined) return
    if (wait.opensAt > at)
      for (const one of windowWakes(this.id, wait.opensAt, at, random())) wake(this.id, one.at, one.cause)
    wake(this.id, wait.closesAt, 'window')
  }

  #wakeLater(): void {
    const { now, wake, random, intervalOf } = this.#shared
    wake(this.id, now() + jittered(intervalOf(this.id), random()), 'interval')
  }

  async #notRead(error: ApiError, declaration: Declaration): Promise<void> {
    const { now, wake, intervalOf } = this.#shared
    this.#refreshFailures += 1
    wake(this.id, now() + waitAfter(this.#refreshFailures), 'backoff')
    const isRefused = error.status === 401 || error.status === 403
    const isRecent = now() - this.#live.readAt < 3 * intervalOf(this.id)
    if (isRecent && !this.#live.isRead) return this.#show({ state: 'Unknown' }, declaration, error)
    if (isRecent && this.#view.state !== 'Progressing') return
    await this.#show({ state: 'Failing', reason: isRefused ? 'KeyRefused' : 'Unreachable' }, declaration, {
      message: error.message,
    })
  }

  async #show(given: Status, declaration: Declaration, shown: Shown): Promise<void> {
    const { now, keeper, accounts, changed } = this.#shared
    const at = now()
    const status: Status = isSuspended(this.#store.file.suspension, at) ? { state: 'Suspended' } : given
    const { status: before } = this.#store.file
    const isSame = before?.state === status.state && before.reason === status.reason
    const since = isSame ? before.since : at
    this.#store.change((file) => ({ ...file, status: { ...status, since } }))
    this.#view = shownProject(this.#view, status, this.#store.file, shown, {
      at,
      since,
      account: accounts.of(this.id)?.account,
      name: this.#live.name,
      version: declaration.version,
      readAt: this.#live.isRead ? this.#live.readAt : undefined,
    })
    const isOver = given.state !== 'Progressing'
    const events = isOver ? keeper?.afterRound(this.#view, this.#store.file.events, at) : undefined
    await this.#store.saveAs((file) => (events === undefined ? file : { ...file, events }))
    if (isOver) keeper?.onKept(this.id)
    changed()
  }
}
