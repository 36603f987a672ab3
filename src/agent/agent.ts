/** Runs the agent's loops, and provides the interface to control it. */
import type { ApiOptions } from '../api/index.ts'
import { compare, dateOf, mapConcurrently } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import type { AgentStatus, AgentView, Plan, ProjectView } from '../model/index.ts'
import { RestartLimit } from './act/restart-limit.ts'
import { type AgentControl, type RoundView, type ShownDifference, suspend } from './control.ts'
import type { PastApply } from './data-folder.ts'
import type { WakeCause } from './decide/wakes.ts'
import type { ProjectHost } from './memory.ts'
import type { AgentProject } from './project.ts'
import { Projects } from './projects.ts'
import { Scheduler } from './scheduler.ts'
import { type Accounts, type AgentKey, openAccounts } from './source/accounts.ts'
import { DesiredState } from './source/desired-state.ts'
import type { Secret } from './source/secret.ts'
import type { Source } from './source/source.ts'
import { gapWords, logLines } from './tell/view.ts'

export interface AgentOptions
  extends Pick<ProjectHost, 'data' | 'policy' | 'operationTimeoutMs' | 'clock' | 'random' | 'notifier'> {
  readonly source: Source
  /** How many computes of all projects together may restart in 24 hours. */
  readonly maxRestarts?: number | undefined
  readonly keys: readonly AgentKey[]
  readonly api: Omit<ApiOptions, 'apiKey' | 'clients' | 'watch'>
  /** How often each project is refreshed, in milliseconds. */
  readonly interval: number
  readonly gitInterval: number
  readonly concurrency: number
  /** How long a branch that has no primary delays the end of the agent, in milliseconds. */
  readonly stopTimeoutMs: number
  /** Secrets that are read again together with the manifests, besides the keys. */
  readonly secrets?: readonly Secret[] | undefined
  readonly log?: (line: string) => void
}

const EARLIEST_FETCH_MS = 10_000
const BUG_WAIT_MS = 15 * 60_000
const FULL_WAIT_MS = 60_000
const CHAIN_RETRY_MS = 15_000
const DAY_MS = 24 * 60 * 60_000
const KEEP_JOURNALS_MS = 90 * DAY_MS

/** @throws {EspalierError} `E_KEY`, `E_AGENT_DATA` */
export const openAgent = async (options: AgentOptions): Promise<Agent> => {
  const now = nowOf(options)
  const desired = await DesiredState.open(options.source, options.data, now)
  return new Agent(options, desired, await openAccounts({ ...options, now }))
}

const nowOf =
  ({ clock }: AgentOptions): (() => number) =>
  () =>
    dateOf(clock)

export class Agent implements AgentControl {
  readonly #options: AgentOptions
  readonly #desired: DesiredState
  readonly #accounts: Accounts
  readonly #now: () => number
  readonly #startedAt: number
  readonly #projects: Projects
  readonly #restarts: RestartLimit
  readonly #scheduler: Scheduler
  readonly #stopping = new AbortController()
  readonly #changed = new Listeners<void>()
  readonly #roundEnded = new Listeners<RoundView>()
  readonly #signalled = new Listeners<void>()
  /** Aborted to end the wait for the next poll. */
  #fetchAlarm = new AbortController()
  #lost: unknown
  /** Aborted if everything has to stop immediately. */
  readonly #aborting = new AbortController()
  #stoppedAt = 0

  constructor(options: AgentOptions, desired: DesiredState, accounts: Accounts) {
    this.#options = options
    this.#desired = desired
    this.#accounts = accounts
    this.#now = nowOf(options)
    this.#startedAt = this.#now()
    this.#scheduler = new Scheduler({
      clock: options.clock,
      now: this.#now,
      concurrency: options.concurrency,
      work: (id, cause, dueAt) => this.#runRound(id, cause, dueAt),
    })
    const files = () => this.#projects.known.map(({ id, memory }) => [id, memory.file] as const)
    this.#restarts = new RestartLimit(options.maxRestarts, files)
    const host: ProjectHost = {
      ...options,
      restarts: this.#restarts,
      desired,
      accounts,
      startedAt: this.#startedAt,
      now: this.#now,
      onSignal: (signal, handle) => (signal === 'SIGTERM' ? this.#signalled.add(handle) : () => undefined),
      isAborting: () => this.#aborting.signal.aborted,
      isStopping: () => this.#stopping.signal.aborted,
      intervalOf: (project) => accounts.intervalOf(project, this.#projects.ids),
      unreadBeside: (project) => this.#unreadBeside(project),
      isHeldBeside: (project) =>
        this.#projects.all.some(({ id, view }) => id !== project && view.reason === 'RestartLimit'),
      steadySince: () => this.#scheduler.steadySince,
      log: (line) => this.#log(line),
      isSettled: (project) => this.#projects.get(project)?.isSettled === true,
      wake: (project, at, cause) => this.#scheduler.wake(project, at, cause),
      changed: () => this.#changed.call(),
      lost: (error) => this.#lose(error),
    }
    this.#projects = new Projects(host, (project) => {
      this.#scheduler.forget(project)
      this.#restarts.forget(project)
    })
    accounts.onRefused(() => void this.#orLost(this.#rereadSecrets()))
  }

  /**
   * Runs until `stop` is called.
   *
   * @throws {EspalierError} `E_AGENT_DATA` if another agent takes over the data folder.
   */
  run(): Promise<void> {
    const { data } = this.#options
    const removeJournals = (): Promise<void> => data.removeJournals(this.#now() - KEEP_JOURNALS_MS)
    return this.#whileHoldingLease([
      this.#scheduler.run().then(() => this.#finishChains()),
      this.#orLost(this.#pollUntilStopped()),
      this.#orLost(this.#every(DAY_MS, removeJournals, this.#stopping.signal)),
    ])
  }

  /** Runs one round for each project, or until `stop` is called. */
  once(): Promise<void> {
    const { signal } = this.#stopping
    const rounds = async (): Promise<void> => {
      await this.#poll()
      const round = async (id: string): Promise<void> =>
        signal.aborted ? undefined : this.#runRound(id, 'reconcile', this.#now())
      await mapConcurrently(this.#projects.ids, this.#options.concurrency, round)
      if (signal.aborted) await this.#finishChains()
    }
    return this.#whileHoldingLease([rounds()])
  }

  /**
   * The first call lets running steps complete, and branches get their primaries back. The second call stops everything
   * immediately.
   */
  readonly stop = (): void => {
    if (this.#stopping.signal.aborted) this.#aborting.abort()
    else {
      this.#stoppedAt = this.#now()
      this.#logGaps()
    }
    this.#stopping.abort()
    this.#fetchAlarm.abort()
    this.#scheduler.stop()
    this.#signalled.call()
  }

  /** Whether the agent has left a branch without its primary. */
  get hasGap(): boolean {
    return this.#projects.all.some(({ gap }) => gap !== undefined)
  }

  view(): AgentView {
    const { ids, all } = this.#projects
    const now = this.#now()
    const accounts = this.#accounts.view(ids)
    const intervals = new Map(accounts.map(({ name, intervalSeconds }) => [name, intervalSeconds * 1_000]))
    return {
      version: VERSION,
      startedAt: new Date(this.#startedAt).toISOString(),
      tickedAt: new Date(this.#scheduler.tickedAt).toISOString(),
      source: this.#desired.view(),
      accounts,
      projects: all
        .map(
          (project): ProjectView => project.viewAt(now, intervals.get(project.view.account) ?? this.#options.interval),
        )
        .sort((a, b) => compare(a.id, b.id)),
    }
  }

  get idleMs(): number {
    return this.#scheduler.idleMs
  }

  historyOf(id: string): Promise<readonly PastApply[]> {
    return this.#options.data.readHistory(id)
  }

  planOf(id: string): Plan | undefined {
    return this.#projects.get(id)?.memory.plan
  }

  watch(listener: () => void): () => void {
    return this.#changed.add(listener)
  }

  watchRounds(listener: (round: RoundView) => void): () => void {
    return this.#roundEnded.add(listener)
  }

  async reconcile(asked: readonly string[] | 'all', accept?: string): Promise<void> {
    const chosen = this.#projects.named(asked)
    if (accept !== undefined) await this.#desired.accept(accept)
    await this.#changeEach(chosen, (project) => project.clearFailures(accept !== undefined))
  }

  async adopt(id: string, commit: string, shown: readonly ShownDifference[]): Promise<void> {
    await this.#changeEach(this.#projects.named([id]), (project) => project.adopt(commit, shown))
  }

  async suspend(asked: readonly string[] | 'all', until: number, reason: string): Promise<void> {
    const now = this.#now()
    const { secrets = [] } = this.#options
    // The reason goes to the log and to events, and may have been pasted together with a secret.
    const shown = secrets.reduce((text, secret) => secret.hideIn(text), this.#accounts.hideIn(reason))
    await this.#changeEach(this.#projects.named(asked), (project) => project.suspend(suspend(now, until - now, shown)))
  }

  async resume(asked: readonly string[] | 'all'): Promise<void> {
    await this.#changeEach(this.#projects.named(asked), (project) => project.resume())
  }

  fetchSoon(): void {
    this.#fetchAlarm.abort()
  }

  async #changeEach(chosen: readonly AgentProject[], change: (project: AgentProject) => Promise<void>): Promise<void> {
    for (const project of chosen) {
      await change(project)
      this.#scheduler.wake(project.id, this.#now(), 'reconcile')
    }
  }

  async #runRound(id: string, cause: WakeCause, dueAt: number): Promise<void> {
    const project = this.#projects.get(id)
    if (project === undefined) return
    const { view: before, isCovered: wasCovered } = project.memory
    try {
      this.#roundEnded.call(await project.round(cause, dueAt))
    } catch (error) {
      if (this.#lost !== undefined) return
      await project.showError(error).catch(() => undefined)
      const wait = this.#options.data.isFull() ? FULL_WAIT_MS : BUG_WAIT_MS
      this.#scheduler.wake(id, this.#now() + wait, 'backoff')
    }
    const { state, reason } = project.view
    const from = wasCovered || project.memory.isCovered ? { ...before, state, reason } : before
    for (const line of logLines(from, project.view)) this.#log(line)
    const { lastApply } = project.view
    // The history is only shown, so the agent does not end if its disk is full.
    if (lastApply !== undefined && lastApply.at !== before.lastApply?.at)
      await this.#options.data.addToHistory(id, lastApply).catch(() => undefined)
    if (!project.isSettled) return
    for (const other of this.#projects.all)
      if (other.view.reason === 'Wave') this.#scheduler.wake(other.id, this.#now(), 'commit')
  }

  #unreadBeside(id: string): readonly ProjectView[] {
    const account = this.#projects.get(id)?.view.account
    const others = this.#projects.all.filter(({ memory, id: one }) => memory.unread !== undefined && one !== id)
    return others.map(({ view }) => view).filter((view) => view.account === account)
  }

  /** Gives branches their primaries back after the first signal, until the second signal or the timeout. */
  async #finishChains(): Promise<void> {
    const { clock, stopTimeoutMs } = this.#options
    const { signal } = this.#aborting
    while (!signal.aborted && this.#now() < this.#stoppedAt + stopTimeoutMs) {
      const open = this.#projects.all.filter(({ gap, view }) => gap !== undefined && canProceed(view))
      await Promise.all(open.map(({ id }) => this.#runRound(id, 'reconcile', this.#now())))
      if (!open.some(({ gap, view }) => gap !== undefined && canProceed(view))) break
      await clock.sleep(CHAIN_RETRY_MS, signal).catch(() => undefined)
    }
    this.#logGaps()
  }

  #logGaps(): void {
    for (const { id, gap } of this.#projects.all) if (gap !== undefined) this.#log(`${id}  ${gapWords(gap)}`)
  }

  async #poll(): Promise<void> {
    const desired = this.#desired
    const before = desired.view()
    const changes = new Set(await desired.refresh())
    const after = desired.view()
    if (after.version !== before.version) this.#log(`version ${after.version?.slice(0, 12)} of ${after.from}`)
    if (after.error !== undefined && after.error !== before.error) this.#log(`${after.from}: ${after.error}`)
    for (const id of await this.#projects.follow(desired.projects(), changes))
      this.#log(`${id} is no longer declared. Its computes stay as they are.`)
    this.#changed.call()
  }

  async #pollUntilStopped(): Promise<void> {
    const { clock, gitInterval } = this.#options
    while (!this.#stopping.signal.aborted) {
      // The alarm is created before the poll, so that a fetch that is requested during the poll triggers another one.
      this.#fetchAlarm = new AbortController()
      await this.#poll()
      const earliest = this.#now() + EARLIEST_FETCH_MS
      await this.#rereadSecrets()
      // `AbortSignal.any` is not used, because in Node 20 it leaks references if one of its signals lives as long as
      // the agent.
      await clock.sleep(gitInterval, this.#fetchAlarm.signal).catch(() => undefined)
      if (this.#fetchAlarm.signal.aborted && this.#now() < earliest)
        await clock.sleep(earliest - this.#now(), this.#stopping.signal).catch(() => undefined)
    }
  }

  async #rereadSecrets(): Promise<void> {
    const log = (line: string): void => this.#log(line)
    for (const secret of this.#options.secrets ?? []) await secret.reread(log)
    const replaced = await this.#accounts.rereadKeys(log)
    for (const { id, view } of this.#projects.all)
      if (view.reason === 'KeyRefused' && replaced.has(view.account)) this.#scheduler.wake(id, this.#now(), 'reconcile')
  }

  /** Renews the lease on the data folder until the last step completes, which may be minutes after SIGTERM. */
  async #whileHoldingLease(working: readonly Promise<unknown>[]): Promise<void> {
    const { data } = this.#options
    const ended = new AbortController()
    const renewing = this.#orLost(this.#every(data.renewEveryMs, () => data.renew(), ended.signal))
    try {
      await Promise.all(working)
    } finally {
      ended.abort()
      await renewing
    }
    await this.#accounts.close()
    if (this.#lost !== undefined) throw this.#lost
  }

  /** Runs the task after each interval until `until` is aborted. An error that the task throws ends the loop. */
  async #every(ms: number, task: () => Promise<void>, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#options.clock.sleep(ms, until).catch(() => undefined)
      if (!until.aborted) await task()
    }
  }

  #orLost(running: Promise<void>): Promise<void> {
    return running.catch((error) => this.#lose(error))
  }

  #lose(error: unknown): void {
    this.#lost ??= error
    this.stop()
    this.stop()
  }

  #log(line: string): void {
    this.#options.log?.(`${new Date(this.#now()).toISOString()}  ${line}`)
  }
}

const canProceed = ({ state, reason }: AgentStatus): boolean => state !== 'Invalid' && reason !== 'KeyRefused'

class Listeners<T> {
  readonly #all = new Set<(value: T) => void>()

  call(value: T): void {
    for (const listener of [...this.#all]) listener(value)
  }

  /** @returns a function that unsubscribes. */
  add(listener: (value: T) => void): () => void {
    this.#all.add(listener)
    return () => void this.#all.delete(listener)
  }
}
