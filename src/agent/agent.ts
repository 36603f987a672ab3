/** The running agent: its loops and its control interface. */
import type { ApiOptions } from '../api/index.ts'
import type { Budgets } from '../apply/index.ts'
import { mapConcurrently, type OnSignal } from '../base/index.ts'
import { type Clock, EspalierError } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { type AgentKey, openAccounts } from './accounts.ts'
import type { DataFolder } from './data-folder.ts'
import type { AgentPolicy } from './decide.ts'
import { openDesiredState } from './desired-state.ts'
import { DAY_MS, journalFor, removeJournals } from './journals.ts'
import { logLines } from './log.ts'
import { ProjectSet } from './project-set.ts'
import { createScheduler } from './scheduler.ts'
import type { Shared } from './shared.ts'
import type { Source } from './source.ts'
import { suspend } from './suspension.ts'
import type { AgentControl, AgentView, EventKeeper, ProjectView, RoundView } from './view.ts'

export interface AgentOptions {
  readonly source: Source
  readonly data: DataFolder
  readonly keys: readonly AgentKey[]
  readonly api: Omit<ApiOptions, 'apiKey' | 'clients' | 'watch'>
  readonly policy: AgentPolicy
  readonly budgets: Budgets
  /** Refresh interval of each project, in milliseconds. */
  readonly interval: number
  readonly gitInterval: number
  /** Fraction of an account's request limit, 0 to 1. */
  readonly requestShare: number
  readonly concurrency: number
  readonly operationTimeoutMs: number
  /** How long journals are kept, in milliseconds. */
  readonly keepMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly keeper?: EventKeeper
  readonly log?: (line: string) => void
}

export interface RunningAgent extends AgentControl {
  /**
   * Runs until `stop`. Keeps holding the data folder on return, because the last events may still be undelivered.
   *
   * @throws {EspalierError} `E_AGENT_DATA` if another agent takes over the data folder.
   */
  run(): Promise<void>
  /** One round for each project. */
  once(): Promise<void>
  /** First call: running steps complete. Second call: everything stops immediately. */
  stop(): void
}

const EARLIEST_FETCH_MS = 10_000
const BUG_WAIT_MS = 15 * 60_000

/** @throws {EspalierError} `E_KEY`, `E_AGENT_DATA` */
export const openAgent = async (options: AgentOptions): Promise<RunningAgent> => {
  const { source, data, clock, random, log = () => undefined } = options
  const now = (): number => clock.date?.() ?? clock.now()
  const startedAt = now()
  const desired = await openDesiredState(source, data, now)
  const accounts = await openAccounts({ ...options, share: options.requestShare, now })
  const listeners = new Set<() => void>()
  const roundListeners = new Set<(round: RoundView) => void>()
  const signalled = new Set<() => void>()
  const stopping = new AbortController()
  let lost: unknown
  let fetchAlarm = new AbortController()
  let polledAt = 0

  const say = (line: string): void => log(`${new Date(now()).toISOString()}  ${line}`)
  const changed = (): void => {
    for (const listener of listeners) listener()
  }
  const stop = (): void => {
    stopping.abort()
    fetchAlarm.abort()
    scheduler.stop()
    for (const handle of [...signalled]) handle()
  }
  const shared: Shared = {
    ...options,
    now,
    startedAt,
    desired,
    accounts,
    onSignal: ((signal, handle) => {
      if (signal !== 'SIGTERM') return () => undefined
      signalled.add(handle)
      return () => void signalled.delete(handle)
    }) satisfies OnSignal,
    journalFor: (project, version) => journalFor(data.path, project, version, now(), random),
    intervalOf: (project) => accounts.intervalOf(project, projects.ids),
    isSettled: (project) => projects.get(project)?.isSettled === true,
    wake: (project, at, cause) => scheduler.wake(project, at, cause),
    forget: (project) => scheduler.forget(project),
    changed,
    isStopping: () => stopping.signal.aborted,
    lost: (error) => {
      lost ??= error
      stop()
      stop()
    },
  }
  const projects = new ProjectSet(shared)
  const work: Parameters<typeof createScheduler>[0]['work'] = async (id, cause, dueAt) => {
    const project = projects.get(id)
    if (project === undefined) return
    const before = project.view
    try {
      const round = await project.round(cause, dueAt)
      for (const listener of roundListeners) listener(round)
    } catch (error) {
      if (lost !== undefined) return
      await project.broke(error).catch(() => undefined)
      scheduler.wake(id, now() + BUG_WAIT_MS, 'backoff')
    }
    for (const line of logLines(before, project.view)) say(line)
    if (project.isSettled) for (const other of projects.all) if (other.view.reason === 'Wave') other.wakeForWave()
  }
  const scheduler = createScheduler({ clock, now, concurrency: options.concurrency, work })

  const poll = async (): Promise<void> => {
    const before = desired.view()
    const changes = new Set(await desired.refresh())
    polledAt = now()
    const after = desired.view()
    if (after.version !== before.version) say(`version ${after.version?.slice(0, 12)} of ${after.from}`)
    if (after.error !== undefined && after.error !== before.error) say(`${after.from}: ${after.error}`)
    for (const id of await projects.follow(desired.projects(), changes))
      say(`${id} is no longer declared. Nothing of it is changed.`)
    changed()
  }
  /** Aborted sleeps are ignored. Other failures appear in the view or end the agent. */
  const every = async (ms: number, task: () => Promise<void>, until: AbortSignal): Promise<void> => {
    while (!until.aborted) {
      await clock.sleep(ms, until).catch(() => undefined)
      if (!until.aborted) await task()
    }
  }
  const pollForEver = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // Before the poll, so that a fetch requested while one is running triggers another.
      fetchAlarm = new AbortController()
      await poll()
      await rereadKeys()
      const earliest = polledAt + EARLIEST_FETCH_MS
      // Not `AbortSignal.any`: it leaves a reference in the signal that lasts as long as the agent (Node 20).
      await clock.sleep(options.gitInterval, fetchAlarm.signal).catch(() => undefined)
      if (fetchAlarm.signal.aborted && now() < earliest)
        await clock.sleep(earliest - now(), stopping.signal).catch(() => undefined)
    }
  }
  const orLost = (running: Promise<void>): Promise<void> => running.catch(shared.lost)
  /** Renews the data folder's lease until the last step completes, which may be minutes after SIGTERM. */
  const holding = async (working: readonly Promise<unknown>[]): Promise<void> => {
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
      say(error.message)
    }
  }
  const subjects = new Map<string, unknown>(Object.entries(desired.events()))
  return {
    run: () =>
      holding([
        scheduler.run(),
        orLost(pollForEver()),
        orLost(every(DAY_MS, () => removeJournals(data.path, now() - options.keepMs), stopping.signal)),
      ]),
    once: () =>
      holding([
        poll().then(() => mapConcurrently(projects.ids, options.concurrency, (id) => work(id, 'reconcile', now()))),
      ]),
    stop,
    view: (): AgentView => ({
      version: VERSION,
      startedAt: new Date(startedAt).toISOString(),
      tickedAt: new Date(scheduler.tickedAt()).toISOString(),
      source: desired.view(),
      accounts: accounts.view(projects.ids),
      projects: projects.all.map(({ view }): ProjectView => view).sort((a, b) => (a.id < b.id ? -1 : 1)),
    }),
    planOf: (id) => projects.get(id)?.plan,
    watch: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    watchRounds: (listener) => {
      roundListeners.add(listener)
      return () => void roundListeners.delete(listener)
    },
    kept: () => new Map<string, unknown>([...projects.kept(), ...subjects]),
    keep: async (subject, change) => {
      const project = projects.ofEvents(subject)
      if (project !== undefined) return project.keep(change)
      const next = change(subjects.get(subject))
      if (next === undefined) subjects.delete(subject)
      else subjects.set(subject, next)
      await desired.keepEvents(Object.fromEntries(subjects))
    },
    reconcile: async (asked, accept) => {
      const chosen = projects.named(asked)
      if (accept !== undefined && !(await desired.accept(accept))) {
        throw new EspalierError('E_USAGE', `${accept} is not the current commit.`, {
          hint: `The current commit is ${desired.view().version ?? 'none'}: review it, then accept it.`,
        })
      }
      for (const project of chosen) {
        await project.forgive()
        scheduler.wake(project.id, now(), 'reconcile')
      }
    },
    suspend: async (asked, until, reason) => {
      for (const project of projects.named(asked)) {
        await project.suspend(suspend(now(), until - now(), reason))
        scheduler.wake(project.id, now(), 'reconcile')
      }
    },
    resume: async (asked) => {
      for (const project of projects.named(asked)) {
        await project.resume()
        scheduler.wake(project.id, now(), 'reconcile')
      }
    },
    fetchSoon: () => fetchAlarm.abort(),
  }
}
