/** Runs the rounds of one project, and holds its state between them. */
import { ApiError, type WriteApi } from '../api/index.ts'
import { EspalierError } from '../base/index.ts'
import type { Observed, Plan, ProjectView } from '../model/index.ts'
import { leavesGap, unresolvedFailures } from './act/recovery.ts'
import type { RoundView } from './control.ts'
import type { ProjectFile } from './data-folder.ts'
import { waitAfter } from './decide/retries.ts'
import { type Round, worstOf } from './decide/round.ts'
import { type Decided, ProjectApply } from './project-apply.ts'
import { ProjectDisplay } from './project-display.ts'
import { ProjectPlan } from './project-plan.ts'
import { ProjectStore } from './project-store.ts'
import { wakeAfterRound, wakeNextInterval } from './project-wakes.ts'
import type { WakeCause } from './scheduler.ts'
import type { Shared } from './shared.ts'
import type { KeyOfProject } from './source/accounts.ts'
import { filesBehind } from './source/declared.ts'
import type { Declaration } from './source/desired-state.ts'
import { LiveProject } from './source/live-project.ts'
import type { Suspension } from './suspension.ts'
import { differencesOf } from './tell/view.ts'

/** An apply may unblock further steps. Steps that remain after this many applies wait for the next wake. */
const MAX_APPLIES = 3

export class AgentProject {
  readonly id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  readonly #live: LiveProject
  readonly #apply: ProjectApply
  readonly #display: ProjectDisplay
  readonly #plan: ProjectPlan
  #readFailures = 0
  /** The last time that a round ended without an API error. */
  #completedAt: number
  /** The digest of the declaration that the displayed state refers to. */
  #concluded: string | undefined

  constructor(id: string, shared: Shared, file: ProjectFile | undefined) {
    this.id = id
    this.#shared = shared
    this.#completedAt = shared.startedAt
    this.#store = new ProjectStore(id, shared.data, file, shared.lost)
    this.#live = new LiveProject(id, shared)
    this.#apply = new ProjectApply(id, shared, this.#store)
    this.#display = new ProjectDisplay(id, shared, this.#store, this.#live)
    this.#plan = new ProjectPlan(id, shared, this.#store, this.#display)
  }

  get view(): ProjectView {
    return this.#display.view
  }

  /** The last plan with all differences, including the differences on hold. */
  get plan(): Plan | undefined {
    return this.#plan.last
  }

  /** Whether an earlier run of the agent left work unfinished. If so, the first round starts without a delay. */
  get isPending(): boolean {
    const { applying, failures, wait } = this.#store.file
    return applying !== undefined || failures > 0 || wait !== undefined
  }

  /** Whether the project is reconciled with its declaration as far as possible, so that a later wave may start. */
  get isSettled(): boolean {
    const { state } = this.view
    const isCurrent = this.#concluded !== undefined && this.#concluded === this.#shared.desired.of(this.id)?.digest
    return isCurrent && (state === 'Synced' || state === 'OutOfSync')
  }

  wakeForWave(): void {
    this.#shared.wake(this.id, this.#shared.now(), 'commit')
  }

  /** Shows an unexpected error as the state of this project, so that the agent can go on. */
  async showError(error: unknown): Promise<void> {
    const declaration = this.#shared.desired.of(this.id)
    if (declaration === undefined) return
    const what = error instanceof EspalierError ? error.message : `A bug in Espalier: ${String(error)}`
    await this.#display.show({ state: 'Failing' }, declaration.version, { message: what })
  }

  suspend(suspension: Suspension): Promise<void> {
    this.#apply.stop()
    this.#shared.wake(this.id, suspension.until, 'interval')
    return this.#store.saveAs((file) => ({ ...file, suspension }))
  }

  resume(): Promise<void> {
    return this.#store.saveAs((file) => ({ ...file, suspension: undefined }))
  }

  /** Clears the project's back-off, rejections and conflicts. */
  clearFailures(): Promise<void> {
    return this.#store.saveAs((file) => ({ ...file, retryAt: undefined, refusals: [], reverts: [], failures: 0 }))
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
      await this.#display.show({ state: 'Invalid' }, declaration.version, {
        message: `No key in the --keys file covers project ${this.id}.`,
      })
      return ended('unchanged')
    }
    try {
      const isChanged = await this.#reconcile(cause, declaration, key)
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
  async #reconcile(cause: WakeCause, declaration: Declaration, key: KeyOfProject): Promise<boolean> {
    const { manifests } = declaration
    const foreign = key.foreignFile(() => [...declaration.files, ...(manifests ? filesBehind(manifests) : [])])
    const problem =
      foreign === undefined
        ? declaration.problem
        : `${foreign} may not configure ${this.id}: the \`paths\` of its key do not include this file.`
    if (problem !== undefined || manifests === undefined) {
      await this.#display.show({ state: problem === undefined ? 'Unknown' : 'Invalid' }, declaration.version, {
        message: problem,
        command: foreign === undefined ? declaration.command : undefined,
      })
      wakeNextInterval(this.id, this.#shared)
      return false
    }
    const isForced = cause !== 'interval' && cause !== 'backoff'
    if (isForced || this.#store.file.record?.manifests !== declaration.digest)
      this.#store.change((file) => ({ ...file, retryAt: undefined, failures: 0 }))
    const interrupted = await this.#apply.recover(key.api)
    const { chain } = this.#store.file
    const decide = async (isFull: boolean, continuing?: ReadonlySet<string>): Promise<Decided | undefined> =>
      this.#plan.decide(declaration, manifests, await this.#live.refresh(key.api, isFull), continuing)
    let decided = await decide(
      interrupted !== undefined || chain !== undefined || cause !== 'interval',
      chain && new Set(chain),
    )
    if (interrupted !== undefined) this.#apply.recovered(interrupted, decided && this.#plan.last)
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
      await this.#display.show({ state: 'Progressing' }, declaration.version, {})
      const outcome = await this.#apply.run(decided, declaration.version, key.api)
      applies += 1
      decided = await decide(true)
      if (outcome?.interrupted !== false) break
    }
    if (decided === undefined) wakeNextInterval(this.id, this.#shared)
    else await this.#conclude(decided, declaration, key.api)
    return applies > 0
  }

  /** Completes a chain, even outside its window, if a branch would otherwise be left without its primary. */
  async #finishChain(decided: Decided | undefined, { version }: Declaration, api: WriteApi): Promise<void> {
    if (decided === undefined) return
    if (!leavesGap(decided.round.plan.steps, decided.observed))
      this.#store.change((file) => ({ ...file, chain: undefined }))
    else if (this.#mayRun(decided.round, 0)) await this.#apply.run(decided, version, api, true)
  }

  #mayRun({ steps }: Round, applies: number): boolean {
    const { now, isStopping } = this.#shared
    if (isStopping() || applies >= MAX_APPLIES) return false
    if (this.#store.file.retryAt !== undefined && now() < this.#store.file.retryAt) return false
    return [...steps.values()].some(({ action }) => action === 'run')
  }

  /**
   * Checks whether operations that failed have succeeded since. An empty plan does not prove it, because the API shows
   * a new value before the value takes effect.
   */
  async #checkFailedOperations(api: WriteApi): Promise<void> {
    const { failedOperations: failed } = this.#store.file
    if (Object.keys(failed).length === 0) return
    const failedOperations = await unresolvedFailures(api, this.id, failed)
    this.#store.change((file) => ({ ...file, failedOperations }))
  }

  async #conclude({ round, observed }: Decided, declaration: Declaration, api: WriteApi): Promise<void> {
    await this.#checkFailedOperations(api)
    const isDue =
      this.#store.file.chain !== undefined || [...round.steps.values()].some(({ action }) => action === 'run')
    if (!isDue) this.#store.change((file) => ({ ...file, retryAt: undefined, failure: undefined, failures: 0 }))
    const [[compute, stuck] = []] = Object.entries(this.#store.file.failedOperations)
    const { failure } = this.#store.file
    const message = failure ?? stuck?.message
    const status = worstOf([
      round.status,
      ...(message === undefined ? [] : [{ state: 'Failing' } as const]),
      ...(declaration.history === 'rewritten' ? [{ state: 'Blocked', reason: 'HistoryRewritten' } as const] : []),
      ...(declaration.history === 'stale' ? [{ state: 'Blocked', reason: 'GitStale' } as const] : []),
    ])
    await this.#display.show(status, declaration.version, {
      message: status.state === 'Failing' ? message : undefined,
      // Nothing is retried automatically, because the API does not show whether the value took effect.
      command:
        status.state === 'Failing' && failure === undefined && compute !== undefined
          ? `espalier compute ${isIdle(observed, compute) ? 'start' : 'restart'} ${compute}`
          : undefined,
      differences: differencesOf(round, this.#store.file),
      sync: round.whole.changes.length === 0 ? 'Synced' : 'OutOfSync',
      scheduledSteps: [...round.steps.values()].filter(({ action }) => action === 'wait').length,
    })
    // This is set last, because until now the displayed state was that of the previous declaration.
    this.#concluded = declaration.digest
    wakeAfterRound(this.id, this.#shared, this.#store.file, round, isDue)
  }

  async #notRead(error: ApiError, declaration: Declaration): Promise<void> {
    const { now, wake, intervalOf } = this.#shared
    this.#readFailures += 1
    wake(this.id, now() + waitAfter(this.#readFailures), 'backoff')
    const isRefused = error.status === 401 || error.status === 403
    const isRecent = now() - this.#completedAt < 3 * intervalOf(this.id)
    if (isRecent && this.#live.readAt === undefined)
      return this.#display.show({ state: 'Unknown' }, declaration.version, error)
    if (isRecent && this.view.state !== 'Progressing') return
    const reason = isRefused ? 'KeyRefused' : 'Unreachable'
    await this.#display.show({ state: 'Failing', reason }, declaration.version, { message: error.message })
  }
}

const isIdle = ({ projects }: Observed, compute: string): boolean =>
  projects.some(({ computes }) => computes.some(({ id, state }) => id === compute && state === 'idle'))
