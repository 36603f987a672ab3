/** One project: its rounds, and what is known of it in between. */
import { ApiError, snapshot, type WriteApi } from '../api/index.ts'
import { type Budgets, checkBudgets } from '../apply/index.ts'
import { EspalierError, type OnSignal } from '../base/index.ts'
import {
  type ApplyEvent,
  type Change,
  type Clock,
  type Observed,
  type Outcome,
  type Plan,
  stepTitle,
} from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import type { Selected } from '../planner/index.ts'
import { apply, type Manifests, planSnapshot } from '../workflow/index.ts'
import type { Accounts, KeyOfProject } from './accounts.ts'
import { type DataFolder, NEW_PROJECT_FILE, type ProjectFile } from './data-folder.ts'
import type { AgentPolicy } from './decide.ts'
import type { Declaration, DesiredState } from './desired-state.ts'
import { afterApply, afterRefresh, beforeApply, beforeStep, budgetsLeft, mayInterruptNow } from './memory.ts'
import { commandFor, differencesOf, unknownProject } from './project-view.ts'
import { begunChanges, leavesGap, movedBy, operationsStuck, readJournal, waitForOpen } from './recovery.ts'
import { jittered } from './request-share.ts'
import { waitAfter } from './retries.ts'
import { decideRound, type Round } from './round.ts'
import { type Status, worstOf } from './state.ts'
import { isSuspended, type Suspension } from './suspension.ts'
import type { ApplyView, EventKeeper, ProjectView, RoundView } from './view.ts'
import { missedWindow, waitingOf, windowedSteps } from './waiting.ts'
import { type WakeCause, windowWakes } from './wakes.ts'

const MINUTE = 60_000
/** An apply may let the next one go ahead; what still is not done after these waits for its next wake. */
const MAX_APPLIES = 3
/** Branches are read again with every so many refreshes. */
const FULL_EVERY = 6

/** What the projects of an agent share. */
export interface Shared {
  readonly clock: Clock
  /** The time of day. */
  readonly now: () => number
  readonly random: () => number
  readonly startedAt: number
  readonly data: DataFolder
  readonly desired: DesiredState
  readonly accounts: Accounts
  readonly policy: AgentPolicy
  readonly budgets: Budgets
  readonly operationTimeoutMs: number
  readonly keeper?: EventKeeper | undefined
  /** SIGTERM, once and twice. */
  readonly onSignal: OnSignal
  /** A file for the journal of an apply. */
  journalFor(project: string, version: string): Promise<string>
  /** Milliseconds, stretched until all projects fit. */
  intervalOf(project: string): number
  isSettled(project: string): boolean
  wake(project: string, at: number, cause: WakeCause): void
  changed(): void
  isStopping(): boolean
  /** The data folder is another agent's now, or cannot be written. */
  lost(error: unknown): void
}

interface Decided {
  readonly round: Round
  readonly manifests: Manifests
  readonly observed: Observed
}

export class AgentProject {
  readonly id: string
  readonly #shared: Shared
  #file: ProjectFile
  #written = ''
  #writing: Promise<void> = Promise.resolve()
  #observed: Observed | undefined
  #lights = 0
  #refreshFailures = 0
  #lastRead: number
  #plan: Plan | undefined
  #view: ProjectView
  /** Aborted when the project is suspended while steps run. */
  #suspending = new AbortController()

  constructor(id: string, shared: Shared, file: ProjectFile | undefined) {
    this.id = id
    this.#shared = shared
    this.#file = file ?? NEW_PROJECT_FILE
    this.#lastRead = shared.startedAt
    this.#view = unknownProject(id, shared.accounts.of(id)?.account ?? '', shared.startedAt)
  }

  get view(): ProjectView {
    return this.#view
  }

  get plan(): Plan | undefined {
    return this.#plan
  }

  get kept(): unknown {
    return this.#file.events
  }

  /** Work that waited while no agent ran comes first. */
  get isPending(): boolean {
    const { applying, failures, wait } = this.#file
    return applying !== undefined || failures > 0 || wait !== undefined
  }

  /** As far as it goes, it is as declared now: a later wave may follow. */
  get isSettled(): boolean {
    const { state } = this.#view
    const isCurrent = this.#file.record?.manifests === this.#shared.desired.of(this.id)?.digest
    return isCurrent && (state === 'Synced' || state === 'OutOfSync')
  }

  wakeForWave(): void {
    this.#shared.wake(this.id, this.#shared.now(), 'commit')
  }

  /** By a bug of ours: that concerns this project, and does not end the agent. */
  async broke(error: unknown): Promise<void> {
    const declaration = this.#shared.desired.of(this.id)
    if (declaration === undefined) return
    const what = error instanceof EspalierError ? error.message : `A bug of Espalier: ${String(error)}`
    await this.#show({ state: 'Failing' }, declaration, { message: what })
  }

  async keep(change: (kept: unknown) => unknown): Promise<void> {
    this.#file = { ...this.#file, events: change(this.#file.events) }
    await this.#save()
  }

  async suspend(suspension: Suspension): Promise<void> {
    this.#file = { ...this.#file, suspension }
    this.#suspending.abort()
    this.#shared.wake(this.id, suspension.until, 'interval')
    await this.#save()
  }

  async resume(): Promise<void> {
    const { suspension: _, ...file } = this.#file
    this.#file = file
    await this.#save()
  }

  /** Forgets what keeps it from trying again. */
  async forgive(): Promise<void> {
    const { retryAt: _, ...file } = this.#file
    this.#file = { ...file, refusals: [], reverts: [], failures: 0 }
    await this.#save()
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
    if (isForced || this.#file.record?.manifests !== declaration.digest) this.#resetBackoff()
    const chain = await this.#recover(key.api)
    const decide = async (isFull: boolean, continuing?: ReadonlySet<string>): Promise<Decided | undefined> =>
      this.#decide(declaration, manifests, await this.#refresh(key.api, isFull), continuing)
    if (chain.size > 0) await this.#finishChain(await decide(true, chain), declaration, key.api)
    this.#recovered()
    let decided = await decide(cause !== 'interval')
    let applies = 0
    while (decided !== undefined && this.#mayRun(decided.round, applies)) {
      if (this.#lights > 0) {
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

  /** What would leave a branch without its primary goes on outside of its window too, and nothing else does. */
  async #finishChain(decided: Decided | undefined, declaration: Declaration, api: WriteApi): Promise<void> {
    if (decided === undefined || !this.#mayRun(decided.round, 0)) return
    if (leavesGap(decided.round.plan.steps, decided.observed)) await this.#apply(decided, declaration, api, true)
  }

  #mayRun({ steps }: Round, applies: number): boolean {
    const { now, isStopping } = this.#shared
    if (isStopping() || applies >= MAX_APPLIES) return false
    if (this.#file.retryAt !== undefined && now() < this.#file.retryAt) return false
    return [...steps.values()].some(({ action }) => action === 'run')
  }

  #resetBackoff(): void {
    const { retryAt: _, ...file } = this.#file
    this.#file = { ...file, failures: 0 }
  }

  /** Light: the computes alone, one request. Nothing is ever applied from it. */
  async #refresh(api: WriteApi, isFull: boolean): Promise<Observed> {
    const [known] = this.#observed?.projects ?? []
    const { now } = this.#shared
    if (!isFull && this.#observed !== undefined && known !== undefined && this.#lights < FULL_EVERY - 1) {
      const computes = await api.listComputes(this.id)
      const branches = new Set(known.branches.map(({ id }) => id))
      if (computes.every(({ branchId }) => branches.has(branchId))) {
        this.#lights += 1
        this.#wasRead()
        return { ...this.#observed, takenAt: new Date(now()).toISOString(), projects: [{ ...known, computes }] }
      }
    }
    this.#observed = await snapshot(api, [this.id], { clock: { ...this.#shared.clock, now } })
    this.#lights = 0
    this.#wasRead()
    return this.#observed
  }

  #wasRead(): void {
    this.#refreshFailures = 0
    this.#lastRead = this.#shared.now()
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
    this.#file = afterRefresh(this.#file, {
      desired: manifests.loaded.desired,
      project,
      program: VERSION,
      digest: declaration.digest,
      isNew: declaration.isNew,
      now: now(),
      fetchedAt: desired.fetchedAt(),
    })
    await this.#save()
    if (declaration.isNew) await desired.recorded(this.id)
    const suspended = isSuspended(this.#file.suspension, now())
    const decided = {
      round: this.#roundOf(declaration, manifests, observed, suspended, continuing),
      manifests,
      observed,
    }
    if (continuing === undefined) await this.#watchWindow(declaration, decided)
    return decided
  }

  /** @param continuing only these changes, whose chain began before. */
  #roundOf(
    { history, waitsFor }: Declaration,
    manifests: Manifests,
    observed: Observed,
    suspended: boolean,
    continuing?: ReadonlySet<string>,
  ): Round {
    const { now, policy, budgets, isSettled } = this.#shared
    const at = now()
    const mayPlan = (change: Change): boolean => continuing === undefined || continuing.has(change.id)
    const whole = planSnapshot(observed, choosing(manifests, mayPlan)).result.plan
    return decideRound({
      plan: (select) =>
        select === undefined
          ? whole
          : planSnapshot(
              observed,
              choosing(manifests, (change) => mayPlan(change) && select(change)),
            ).result.plan,
      memory: { ...this.#file, record: this.#file.record ?? { program: '', manifests: '', entries: {} } },
      situation: { policy, isSuspended: suspended, areManifestsValid: true, history },
      steps: {
        now: at,
        continuing: new Set(continuing === undefined ? [] : whole.steps.map(({ id }) => id)),
        isWaveHeld: waitsFor().some((id) => !isSettled(id)),
        mayInterrupt: (step) => mayInterruptNow(this.#file, step, at),
      },
      isOverBudget: ({ steps, ...plan }) =>
        steps.length > 0 && checkBudgets({ ...plan, steps }, budgetsLeft(budgets, this.#file, at)).length > 0,
    })
  }

  /** Remembers what waits for a window, and reports one that passed without it. */
  async #watchWindow(declaration: Declaration, { round, manifests, observed }: Decided): Promise<void> {
    const { now, startedAt } = this.#shared
    const at = now()
    const suspended = isSuspended(this.#file.suspension, at)
    const active = suspended ? this.#roundOf(declaration, manifests, observed, false) : round
    const steps = windowedSteps(active.plan, active.steps)
    const { wait: known, ...file } = this.#file
    const missed = missedWindow(known, steps.length > 0, { now: at, runningSince: startedAt, isSuspended: suspended })
    const wait = waitingOf(steps, missed === undefined ? known : undefined, at)
    this.#file = {
      ...file,
      ...(wait === undefined ? {} : { wait }),
      ...(missed === undefined ? {} : { missed }),
    }
    if (missed !== undefined)
      this.#view = { ...this.#view, missedWindow: missed, missedWindows: this.#view.missedWindows + 1 }
    await this.#save()
  }

  async #apply(
    { manifests, observed, round }: Decided,
    { version }: Declaration,
    api: WriteApi,
    ignoreWindows = false,
  ): Promise<Outcome | undefined> {
    const { clock, now, policy, budgets, operationTimeoutMs, onSignal } = this.#shared
    const left = budgetsLeft(budgets, this.#file, now())
    const journal = await this.#shared.journalFor(this.id, version)
    this.#suspending = new AbortController()
    if (isSuspended(this.#file.suspension, now())) return undefined
    this.#file = beforeApply(this.#file, round.plan, journal, now())
    await this.#save()
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
      this.#file = beforeStep(this.#file, event.step, this.#shared.now())
      await this.#save()
    } catch (error) {
      this.#shared.lost(error)
      throw error
    }
  }

  async #applied(plan: Plan, outcome: Outcome, version: string): Promise<void> {
    const { now } = this.#shared
    this.#file = afterApply(this.#file, plan, outcome, now())
    await this.#save()
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
    const { applying: journal } = this.#file
    if (journal === undefined) return new Set()
    const interrupted = await readJournal(journal)
    await waitForOpen(api, this.id, this.#shared)
    if (interrupted !== undefined) this.#file = { ...this.#file, moving: movedBy(interrupted) }
    return interrupted === undefined || interrupted.hasEnded ? new Set() : begunChanges(interrupted)
  }

  /** Not before its chain is brought to an end: the agent may be killed again. */
  #recovered(): void {
    const { applying: _, ...file } = this.#file
    this.#file = file
  }

  /** A new value is shown before it is in effect, so an empty plan does not prove that a failed operation came to its end. */
  async #checkFailedOperations(api: WriteApi): Promise<void> {
    const { failedOperations: failed } = this.#file
    if (Object.keys(failed).length === 0) return
    this.#file = { ...this.#file, failedOperations: await operationsStuck(api, this.id, failed) }
  }

  async #conclude(round: Round, declaration: Declaration, api: WriteApi): Promise<void> {
    await this.#checkFailedOperations(api)
    const at = this.#shared.now()
    const isDue = [...round.steps.values()].some(({ action }) => action === 'run')
    if (!isDue) {
      const { failure: _, retryAt: __, ...file } = this.#file
      this.#file = { ...file, failures: 0 }
    }
    const [stuck] = Object.values(this.#file.failedOperations)
    const message = this.#file.failure ?? stuck?.message
    const status = worstOf([
      round.status,
      ...(isSuspended(this.#file.suspension, at) ? [{ state: 'Suspended' } as const] : []),
      ...(message === undefined ? [] : [{ state: 'Failing' } as const]),
      ...(declaration.history === 'rewritten' ? [{ state: 'Blocked', reason: 'HistoryRewritten' } as const] : []),
      ...(declaration.history === 'stale' ? [{ state: 'Blocked', reason: 'GitStale' } as const] : []),
    ])
    await this.#show(status, declaration, {
      message: status.state === 'Failing' ? message : undefined,
      differences: differencesOf(round.whole, round, this.#file),
      sync: round.whole.changes.length === 0 ? 'Synced' : 'OutOfSync',
      scheduledSteps: [...round.steps.values()].filter(({ action }) => action === 'wait').length,
    })
    this.#wakeAgain(round, isDue)
  }

  #wakeAgain({ verdicts }: Round, isDue: boolean): void {
    const { now, wake, random } = this.#shared
    const at = now()
    const { retryAt, wait } = this.#file
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
    const isRecent = now() - this.#lastRead < 3 * intervalOf(this.id)
    if (isRecent && this.#observed === undefined) return this.#show({ state: 'Unknown' }, declaration, error)
    if (isRecent && this.#view.state !== 'Progressing') return
    await this.#show({ state: 'Failing', reason: isRefused ? 'KeyRefused' : 'Unreachable' }, declaration, {
      message: error.message,
    })
  }

  async #show(
    status: Status,
    declaration: Declaration,
    shown: {
      readonly message?: string | undefined
      readonly differences?: ProjectView['differences']
      readonly sync?: ProjectView['sync']
      readonly scheduledSteps?: number
    },
  ): Promise<void> {
    const { now, keeper, accounts } = this.#shared
    const { suspension, wait, retryAt, status: before } = this.#file
    const at = now()
    const isSame = before?.state === status.state && before.reason === status.reason
    const since = isSame ? before.since : at
    const { message: _, until: __, windowOpensAt: ___, command: ____, reason: _____, ...last } = this.#view
    const version = declaration.version
    const name = this.#observed?.projects[0]?.name
    const isHeld = isSuspended(suspension, at)
    const until = isHeld
      ? suspension?.until
      : status.state === 'Failing'
        ? retryAt
        : status.state === 'Scheduled'
          ? wait?.opensAt
          : undefined
    const message = status.state === 'Suspended' ? suspension?.reason : shown.message
    const command = commandFor(this.id, status, version)
    this.#view = {
      ...last,
      ...status,
      account: accounts.of(this.id)?.account ?? last.account,
      since: new Date(since).toISOString(),
      ...(name === undefined ? {} : { name }),
      ...(message === undefined ? {} : { message }),
      ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
      sync: shown.sync ?? last.sync,
      differences: shown.differences ?? last.differences,
      scheduledSteps: shown.scheduledSteps ?? last.scheduledSteps,
      ...(version === '' ? {} : { version }),
      ...(this.#observed === undefined ? {} : { refreshedAt: new Date(this.#lastRead).toISOString() }),
      ...(wait !== undefined && wait.opensAt > at ? { windowOpensAt: new Date(wait.opensAt).toISOString() } : {}),
      ...(this.#file.missed === undefined ? {} : { missedWindow: this.#file.missed }),
      ...(command === undefined ? {} : { command }),
    }
    const events = keeper?.afterRound(this.#view, this.#file.events, at)
    this.#file = {
      ...this.#file,
      status: { ...status, since },
      ...(events === undefined ? {} : { events }),
    }
    await this.#save()
    keeper?.onKept(this.id)
    this.#shared.changed()
  }

  /** One after the other; what has not changed is not written. */
  #save(): Promise<void> {
    const file = this.#file
    const write = async (): Promise<void> => {
      const text = JSON.stringify(file)
      if (text === this.#written) return
      await this.#shared.data.writeProject(this.id, file)
      this.#written = text
    }
    const written = this.#writing.then(write)
    this.#writing = written.catch(() => undefined)
    return written.catch((error: unknown) => {
      this.#shared.lost(error)
      throw error
    })
  }
}

const choosing = (manifests: Manifests, choose: (change: Change) => Selected): Manifests => ({
  ...manifests,
  selecting: { selection: {}, leftOutProjects: 0, choose },
})
