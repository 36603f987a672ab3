/** Runs the agent's loops, and provides the interface to control it. */
import { compare, mapConcurrently } from '../base/index.ts'
import { type AgentView, EspalierError, type ProjectView } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import type { AgentControl, RoundView } from './control.ts'
import { logLines } from './log.ts'
import type { AgentProject } from './project.ts'
import { ProjectSet } from './projects.ts'
import { createScheduler, type SchedulerOptions } from './scheduler.ts'
import type { AgentOptions, Shared } from './shared.ts'
import { openAccounts } from './source/accounts.ts'
import { openDesiredState } from './source/desired-state.ts'
import { suspend } from './suspension.ts'

export interface RunningAgent extends AgentControl {
  /**
   * Runs until `stop` is called.
   *
   * @throws {EspalierError} `E_AGENT_DATA` if another agent takes over the data folder.
   */
  run(): Promise<void>
  /** Runs one round for each project. */
  once(): Promise<void>
  /** The first call lets running steps complete. The second call stops everything immediately. */
  stop(): void
}

const EARLIEST_FETCH_MS = 10_000
const BUG_WAIT_MS = 15 * 60_000
const DAY_MS = 24 * 60 * 60_000
const KEEP_JOURNALS_MS = 90 * DAY_MS

/** @throws {EspalierError} `E_KEY`, `E_AGENT_DATA` */
export const openAgent = async (options: AgentOptions): Promise<RunningAgent> => {
  const { source, data, clock, log = () => undefined } = options
  const now = (): number => clock.date?.() ?? clock.now()
  const startedAt = now()
  const desired = await openDesiredState(source, data, now)
  const accounts = await openAccounts({ ...options, now })
  const changed = listeners<void>()
  const roundEnded = listeners<RoundView>()
  const signalled = listeners<void>()
  const stopping = new AbortController()
  let lost: unknown
  let fetchAlarm = new AbortController()
  let polledAt = 0

  const logLine = (line: string): void => log(`${new Date(now()).toISOString()}  ${line}`)
  const stop = (): void => {
    stopping.abort()
    fetchAlarm.abort()
    scheduler.stop()
    signalled.call()
  }
  const shared: Shared = {
    ...options,
    now,
    startedAt,
    desired,
    accounts,
    onSignal: (signal, handle) => (signal === 'SIGTERM' ? signalled.add(handle) : () => undefined),
    intervalOf: (project) => accounts.intervalOf(project, projects.ids),
    isSettled: (project) => projects.get(project)?.isSettled === true,
    wake: (project, at, cause) => scheduler.wake(project, at, cause),
    forget: (project) => scheduler.forget(project),
    changed: changed.call,
    isStopping: () => stopping.signal.aborted,
    lost: (error) => {
      lost ??= error
      stop()
      stop()
    },
  }
  const projects = new ProjectSet(shared)
  const work: SchedulerOptions['work'] = async (id, cause, dueAt) => {
    const project = projects.get(id)
    if (project === undefined) return
    const before = project.view
    try {
      roundEnded.call(await project.round(cause, dueAt))
    } catch (error) {
      if (lost !== undefined) return
      await project.showError(error).catch(() => undefined)
      scheduler.wake(id, now() + BUG_WAIT_MS, 'backoff')
    }
    for (const line of logLines(before, project.view)) logLine(line)
    if (project.isSettled) for (const other of projects.all) if (other.view.reason === 'Wave') other.wakeForWave()
  }
  const scheduler = createScheduler({ clock, now, concurrency: options.concurrency, work })

  const poll = async (): Promise<void> => {
    const before = desired.view()
    const changes = new Set(await desired.refresh())
    polledAt = now()
    const after = desired.view()
    if (after.version !== before.version) logLine(`version ${after.version?.slice(0, 12)} of ${after.from}`)
    if (after.error !== undefined && after.error !== before.error) logLine(`${after.from}: ${after.error}`)
    for (const id of await projects.follow(desired.projects(), changes))
      logLine(`${id} is no longer declared. Its computes stay as they are.`)
    changed.call()
  }
  /** Runs the task after each interval until `until` is aborted. An error that the task throws ends the loop. */
  const every = async (ms: number, task: () => Promise<void>, until: AbortSignal): Promise<void> => {
    while (!until.aborted) {
      await clock.sleep(ms, until).catch(() => undefined)
      if (!until.aborted) await task()
    }
  }
  const pollUntilStopped = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // The alarm is created before the poll, so that a fetch that is requested during the poll triggers another one.
      fetchAlarm = new AbortController()
      await poll()
      await rereadKeys()
      const earliest = polledAt + EARLIEST_FETCH_MS
      // `AbortSignal.any` is not used, because in Node 20 it leaks references if one of its signals lives as long as
      // the agent.
      await clock.sleep(options.gitInterval, fetchAlarm.signal).catch(() => undefined)
      if (fetchAlarm.signal.aborted && now() < earliest)
        await clock.sleep(earliest - now(), stopping.signal).catch(() => undefined)
    }
  }
  const orLost = (running: Promise<void>): Promise<void> => running.catch(shared.lost)
  /** Renews the lease on the data folder until the last step completes, which may be minutes after SIGTERM. */
  const whileHoldingLease = async (working: readonly Promise<unknown>[]): Promise<void> => {
    const ended = new AbortController()
    const renewing = orLost(every(data.renewEveryMs, () => data.renew(), ended.signal))
    try {
      await Promise.all(working)
    } finally {
      ended.abort()
      await renewing
    }
    await accounts.close()
    if (lost !== undefined) throw lost
  }
  const rereadKeys = async (): Promise<void> => {
    try {
      await accounts.rereadKeys()
    } catch (error) {
      if (!(error instanceof EspalierError)) throw error
      logLine(error.message)
    }
  }
  const forEach = async (chosen: readonly AgentProject[], change: (project: AgentProject) => Promise<void>) => {
    for (const project of chosen) {
      await change(project)
      scheduler.wake(project.id, now(), 'reconcile')
    }
  }
  return {
    run: () =>
      whileHoldingLease([
        scheduler.run(),
        orLost(pollUntilStopped()),
        orLost(every(DAY_MS, () => data.removeJournals(now() - KEEP_JOURNALS_MS), stopping.signal)),
      ]),
    once: () =>
      whileHoldingLease([
        poll().then(() => mapConcurrently(projects.ids, options.concurrency, (id) => work(id, 'reconcile', now()))),
      ]),
    stop,
    view: (): AgentView => ({
      version: VERSION,
      startedAt: new Date(startedAt).toISOString(),
      tickedAt: new Date(scheduler.tickedAt()).toISOString(),
      source: desired.view(),
      accounts: accounts.view(projects.ids),
      projects: projects.all.map(({ view }): ProjectView => view).sort((a, b) => compare(a.id, b.id)),
    }),
    planOf: (id) => projects.get(id)?.plan,
    watch: changed.add,
    watchRounds: roundEnded.add,
    reconcile: async (asked, accept) => {
      const chosen = projects.named(asked)
      if (accept !== undefined && !(await desired.accept(accept))) {
        throw notAccepted(accept, desired.view().version)
      }
      await forEach(chosen, (project) => project.clearFailures())
    },
    suspend: async (asked, until, reason) =>
      forEach(projects.named(asked), (project) => project.suspend(suspend(now(), until - now(), reason))),
    resume: async (asked) => forEach(projects.named(asked), (project) => project.resume()),
    fetchSoon: () => fetchAlarm.abort(),
  }
}

const notAccepted = (commit: string, current: string | undefined): EspalierError =>
  current === undefined
    ? new EspalierError('E_USAGE', `${commit} cannot be accepted, because the agent has not read any manifests yet.`, {
        hint: 'Run `espalier agent status` to see whether the manifests can be read, then try again.',
      })
    : new EspalierError('E_USAGE', `${commit} is not the current commit, or has fewer than 7 characters.`, {
        hint: `The current commit is ${current}. Review it, then accept it.`,
      })

const listeners = <T>() => {
  const all = new Set<(value: T) => void>()
  return {
    call: (value: T): void => {
      for (const listener of [...all]) listener(value)
    },
    /** @returns a function that unsubscribes. */
    add: (listener: (value: T) => void) => {
      all.add(listener)
      return () => void all.delete(listener)
    },
  }
}
