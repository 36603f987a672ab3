/** The running agent: its clockwork, and what may be asked of it. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiOptions } from '../api/index.ts'
import type { Budgets } from '../apply/index.ts'
import { mapConcurrently, type OnSignal } from '../base/index.ts'
import { type Clock, EspalierError } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { type AgentKey, openAccounts } from './accounts.ts'
import type { DataFolder } from './data-folder.ts'
import type { AgentPolicy } from './decide.ts'
import { openDesiredState } from './desired-state.ts'
import { logLines } from './log.ts'
import { AgentProject } from './project.ts'
import { startDelay } from './request-share.ts'
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
  /** Of refreshes of each project, in milliseconds. */
  readonly interval: number
  readonly gitInterval: number
  /** Of an account's request limit: 0 to 1. */
  readonly requestShare: number
  readonly concurrency: number
  readonly operationTimeoutMs: number
  /** How long journals are kept. */
  readonly keepMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly keeper?: EventKeeper
  readonly log?: (line: string) => void
}

export interface RunningAgent extends AgentControl {
  /**
   * Until `stop`.
   *
   * @throws {EspalierError} `E_AGENT_DATA` once the data folder is another agent's.
   */
  run(): Promise<void>
  /** One round of each project. */
  once(): Promise<void>
  /** Once: running steps complete. Twice: everything stops immediately. */
  stop(): void
}

const CLEAN_MS = 24 * 60 * 60_000
const EARLIEST_FETCH_MS = 10_000
const BUG_WAIT_MS = 15 * 60_000

/** @throws {EspalierError} `E_KEY`, `E_AGENT_DATA` */
export const openAgent = async (options: AgentOptions): Promise<RunningAgent> => {
  const { source, data, clock, random, log = () => undefined } = options
  const now = (): number => clock.date?.() ?? clock.now()
  const startedAt = now()
  const desired = await openDesiredState(source, data, now)
  const accounts = await openAccounts({ ...options, share: options.requestShare, now })
  const projects = new Map<string, AgentProject>()
  /** Of projects that are no longer declared, events may be undelivered. */
  const removed = new Map<string, AgentProject>()
  const listeners = new Set<() => void>()
  const roundListeners = new Set<(round: RoundView) => void>()
  const signalled = new Set<() => void>()
  const stopping = new AbortController()
  let lost: unknown
  let fetchAlarm = new AbortController()
  let polledAt = 0

  const changed = (): void => {
    for (const listener of listeners) listener()
  }
  const stop = (): void => {
    stopping.abort()
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
    intervalOf: (project) => accounts.intervalOf(project, [...projects.keys()]),
    isSettled: (project) => projects.get(project)?.isSettled === true,
    wake: (project, at, cause) => scheduler.wake(project, at, cause),
    changed,
    isStopping: () => stopping.signal.aborted,
    lost: (error) => {
      lost ??= error
      stop()
      stop()
    },
  }
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
    for (const line of logLines(before, project.view)) log(`${new Date(now()).toISOString()}  ${line}`)
    if (project.isSettled) for (const other of projects.values()) if (other.view.reason === 'Wave') other.wakeForWave()
  }
  const scheduler = createScheduler({ clock, now, concurrency: options.concurrency, work })

  const projectOf = async (id: string): Promise<AgentProject> =>
    removed.get(id) ?? new AgentProject(id, shared, await data.readProject(id))

  const poll = async (): Promise<void> => {
    const isFirst = polledAt === 0
    const before = desired.view()
    const changes = new Set(await desired.refresh())
    polledAt = now()
    const after = desired.view()
    if (after.version !== before.version)
      log(`${new Date(now()).toISOString()}  version ${after.version?.slice(0, 12)} of ${after.from}`)
    if (after.error !== undefined && after.error !== before.error)
      log(`${new Date(now()).toISOString()}  ${after.from}: ${after.error}`)
    const declared = desired.projects()
    const added = declared.filter((id) => !projects.has(id))
    for (const id of added) {
      projects.set(id, await projectOf(id))
      removed.delete(id)
    }
    for (const [index, id] of added.entries()) {
      const isUrgent = !isFirst || projects.get(id)?.isPending === true
      const delay = isUrgent ? 0 : startDelay(index, added.length, shared.intervalOf(id))
      scheduler.wake(id, now() + delay, isUrgent ? 'commit' : 'reconcile')
    }
    const still = new Set(declared)
    for (const [id, project] of projects) {
      if (still.has(id)) continue
      projects.delete(id)
      removed.set(id, project)
      scheduler.forget(id)
      log(`${new Date(now()).toISOString()}  ${id} is no longer declared. Nothing of it is changed.`)
    }
    if (isFirst) {
      for (const id of await data.projects()) {
        if (!projects.has(id)) removed.set(id, await projectOf(id))
      }
    }
    for (const id of changes) if (projects.has(id) && !added.includes(id)) scheduler.wake(id, now(), 'commit')
    changed()
  }
  /** Until the agent stops. What a person must know of a failure is in the view or ends the agent. */
  const every = async (ms: number, task: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(ms, stopping.signal).catch(() => undefined)
      if (!stopping.signal.aborted) await task()
    }
  }
  const pollForEver = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await poll()
      await rereadKeys()
      const earliest = polledAt + EARLIEST_FETCH_MS
      fetchAlarm = new AbortController()
      const alarm = AbortSignal.any([fetchAlarm.signal, stopping.signal])
      await clock.sleep(options.gitInterval, alarm).catch(() => undefined)
      if (fetchAlarm.signal.aborted && now() < earliest)
        await clock.sleep(earliest - now(), stopping.signal).catch(() => undefined)
    }
  }
  const orLost = (running: Promise<void>): Promise<void> => running.catch(shared.lost)
  const close = async (): Promise<void> => {
    await accounts.close()
    await data.release()
  }
  const rereadKeys = async (): Promise<void> => {
    try {
      await accounts.rereadKeys()
    } catch (error) {
      if (!(error instanceof EspalierError)) throw error
      log(`${new Date(now()).toISOString()}  ${error.message}`)
    }
  }
  const named = (asked: readonly string[] | 'all'): readonly AgentProject[] => {
    if (asked === 'all') return [...projects.values()]
    return asked.map((id) => {
      const project = projects.get(id)
      if (project !== undefined) return project
      throw new EspalierError('E_USAGE', `This agent has no project ${id}.`, {
        hint: 'List its projects: espalier agent status',
      })
    })
  }
  const subjects = new Map<string, unknown>(Object.entries(desired.events()))
  return {
    run: async () => {
      const loops = [
        pollForEver(),
        every(data.renewEveryMs, () => data.renew()),
        every(CLEAN_MS, () => removeJournals(data.path, now() - options.keepMs)),
      ].map(orLost)
      await Promise.all([scheduler.run(), ...loops])
      await close()
      if (lost !== undefined) throw lost
    },
    once: async () => {
      await poll()
      await mapConcurrently([...projects.keys()], options.concurrency, (id) => work(id, 'reconcile', now()))
      await close()
      if (lost !== undefined) throw lost
    },
    stop,
    view: (): AgentView => ({
      version: VERSION,
      startedAt: new Date(startedAt).toISOString(),
      tickedAt: new Date(scheduler.tickedAt()).toISOString(),
      source: desired.view(),
      accounts: accounts.view([...projects.keys()]),
      projects: [...projects.values()].map(({ view }): ProjectView => view).sort((a, b) => (a.id < b.id ? -1 : 1)),
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
    kept: () =>
      new Map<string, unknown>([
        ...[...removed, ...projects].flatMap(([id, { kept }]) => (kept === undefined ? [] : [[id, kept] as const])),
        ...subjects,
      ]),
    keep: async (subject, change) => {
      const project = projects.get(subject) ?? removed.get(subject)
      if (project !== undefined) return project.keep(change)
      const next = change(subjects.get(subject))
      if (next === undefined) subjects.delete(subject)
      else subjects.set(subject, next)
      await desired.keepEvents(Object.fromEntries(subjects))
    },
    reconcile: async (asked, accept) => {
      const chosen = named(asked)
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
      for (const project of named(asked)) {
        await project.suspend(suspend(now(), until - now(), reason))
        scheduler.wake(project.id, now(), 'reconcile')
      }
    },
    resume: async (asked) => {
      for (const project of named(asked)) {
        await project.resume()
        scheduler.wake(project.id, now(), 'reconcile')
      }
    },
    fetchSoon: () => fetchAlarm.abort(),
  }
}

/** `journals/2026-11-22/020003-quiet-river-12345678-0a1b2c3d4e5f-x7.jsonl` */
const journalFor = async (
  folder: string,
  project: string,
  version: string,
  at: number,
  random: () => number,
): Promise<string> => {
  const [day = '', time = ''] = new Date(at).toISOString().split('T')
  const place = join(folder, 'journals', day)
  await mkdir(place, { recursive: true, mode: 0o700 })
  const tail = Math.floor(random() * 36 ** 4).toString(36)
  return join(place, `${time.slice(0, 8).replaceAll(':', '')}-${project}-${version.slice(0, 12)}-${tail}.jsonl`)
}

const removeJournals = async (folder: string, before: number): Promise<void> => {
  const journals = join(folder, 'journals')
  for (const day of await readdir(journals).catch(() => [])) {
    if (Date.parse(day) + CLEAN_MS < before) await rm(join(journals, day), { recursive: true, force: true })
  }
}
