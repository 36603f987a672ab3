/**
 * Raises and delivers the agent's events. An event is delivered at least once, and after the earlier events of its
 * subject. Delivery is attempted for up to three days.
 */
import { messageOf } from '../../base/index.ts'
import type { AgentView, Clock } from '../../model/index.ts'
import type { AgentControl, EventKeeper } from '../view.ts'
import { nextRaise } from './conditions.ts'
import { type AgentEvent, keptOf, pendingOf, withoutEvent } from './kept.ts'
import {
  accountSubject,
  isOverdue,
  isProject,
  observeAccount,
  observeProject,
  observeRepository,
  REPOSITORY_SUBJECT,
  removeProject,
} from './observe.ts'
import { cloudEvent, eventHeaders, type Send } from './webhook.ts'

const CHECK_EVERY_MS = 10_000
const KEPT_FOR_MS = 3 * 24 * 60 * 60_000
const FIRST_WAIT_MS = 5_000
const LONGEST_WAIT_MS = 5 * 60_000

/** After this failure, no other event is sent for the time being, because it would time out as well. */
const NO_ANSWER = 'the receiver did not respond'

interface NotifierOptions {
  readonly send: Send
  readonly key: Buffer
  readonly clock: Clock
  /** Logs events that could not be delivered. */
  readonly log: (line: string) => void
}

export interface Notifier extends EventKeeper {
  /** Raises and delivers events until `stop` is called. */
  start(control: AgentControl): void
  stop(): Promise<void>
  /** Used instead of `start` after a single round: delivers all events, within the time limit. */
  deliver(control: AgentControl, limitMs: number): Promise<void>
}

interface Retry {
  readonly failures: number
  readonly at: number
}

export const createNotifier = ({ send, key, clock, log }: NotifierOptions): Notifier => {
  let isStopping = false
  let wake = new AbortController()
  let running: Promise<void> | undefined
  const retries = new Map<string, Retry>()
  const accountsWithRounds = new Set<string>()
  let fetchedAt: string | undefined
  let missing: ReadonlySet<string> = new Set()
  /** Whether there may be something to report or deliver. */
  let isStale = true
  let nextRaiseAt = Number.POSITIVE_INFINITY
  const wakeUp = (): void => {
    isStale = true
    wake.abort()
  }
  // This is wall-clock time, because receivers reject signatures that are minutes old, and laptops sleep for hours.
  const now = (): number => clock.date?.() ?? clock.now()

  const check = async (control: AgentControl): Promise<void> => {
    const view = control.view()
    const all = control.kept()
    const change = async (subject: string, next: (kept: unknown) => unknown): Promise<void> => {
      const before = all.get(subject)
      if (JSON.stringify(next(before)) !== JSON.stringify(keptOf(before))) await control.keep(subject, next)
    }
    for (const project of view.projects) {
      if (isOverdue(project, all.get(project.id), now())) {
        await change(project.id, (kept) => observeProject(project, kept, now(), false))
      }
    }
    for (const { name } of view.accounts) {
      const isRound = accountsWithRounds.delete(name)
      await change(accountSubject(name), (kept) => observeAccount(name, view, kept, now(), isRound))
    }
    const isFetched = view.source.fetchedAt !== fetchedAt
    fetchedAt = view.source.fetchedAt
    await change(REPOSITORY_SUBJECT, (kept) => observeRepository(view, kept, now(), isFetched))
    for (const subject of newlyMissing(view, all)) {
      await control.keep(subject, (own) => removeProject(subject, own, now()))
    }
    const raises = [...control.kept().values()].map((kept) => nextRaise(keptOf(kept)) ?? Number.POSITIVE_INFINITY)
    nextRaiseAt = raises.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY)
  }

  /**
   * The projects that were missing from the view in two consecutive checks. One check is not enough, because the state
   * of a new project may be stored before the project appears in the view.
   */
  const newlyMissing = ({ source, projects }: AgentView, all: ReadonlyMap<string, unknown>): readonly string[] => {
    // Whether a project is still declared is known only if the manifests are valid.
    if (source.version === undefined || projects.some(({ state }) => state === 'Invalid')) return []
    const declared = new Set(projects.map(({ id }) => id))
    const before = missing
    missing = new Set(
      [...all].flatMap(([subject, kept]) =>
        isProject(subject) && !declared.has(subject) && !keptOf(kept).isRemoved ? [subject] : [],
      ),
    )
    const confirmed = [...missing].filter((subject) => before.has(subject))
    if (confirmed.length < missing.size) isStale = true
    return confirmed
  }

  const deliver = async (control: AgentControl): Promise<void> => {
    for (const [subject, json] of control.kept()) {
      const retry = retries.get(subject)
      if (retry !== undefined && retry.at > clock.now()) continue
      for (const event of pendingOf(json)) {
        if (isStopping) return
        const isTooOld = now() - event.at > KEPT_FOR_MS
        const failure = isTooOld ? undefined : await attempt(control, subject, event)
        if (isTooOld) log(`Event ${event.type} for ${subject} was dropped: it could not be delivered for 3 days.`)
        if (failure !== undefined) {
          const failures = (retries.get(subject)?.failures ?? 0) + 1
          const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
          retries.set(subject, { failures, at: clock.now() + wait })
          log(`Event ${event.type} for ${subject} was not delivered: ${failure}. Will retry in ${wait / 1_000} s.`)
          if (failure === NO_ANSWER) return
          break
        }
        retries.delete(subject)
        await control.keep(subject, (kept) => withoutEvent(kept, event.id))
      }
    }
  }

  /** @returns why the delivery failed, or `undefined` if it succeeded. */
  const attempt = async (control: AgentControl, subject: string, event: AgentEvent): Promise<string | undefined> => {
    const body = cloudEvent(subject, event, control.view().source.from)
    try {
      const status = await send(body, eventHeaders(key, event.id, Math.floor(now() / 1_000), body))
      return status >= 200 && status < 300 ? undefined : `the receiver returned ${status}`
    } catch {
      // The error may contain the URL, which may contain a secret.
      return NO_ANSWER
    }
  }

  const run = async (control: AgentControl): Promise<void> => {
    while (!isStopping) {
      try {
        const isDue = [...retries.values()].some(({ at }) => at <= clock.now())
        if (isStale || isDue || nextRaiseAt <= now()) {
          isStale = false
          await check(control)
          await deliver(control)
        }
      } catch (error) {
        isStale = true
        log(`Events could not be saved: ${messageOf(error)}`)
      }
      const nextRetry = Math.min(...[...retries.values()].map(({ at }) => at - clock.now()), CHECK_EVERY_MS)
      await clock.sleep(Math.max(nextRetry, 1), wake.signal).catch(() => undefined)
      if (wake.signal.aborted) wake = new AbortController()
    }
  }

  return {
    afterRound: (project, kept, now) => observeProject(project, kept, now, true),
    onKept: wakeUp,
    start: (control) => {
      const unwatch = control.watchRounds(({ project }) => {
        const account = control.view().projects.find(({ id }) => id === project)?.account
        if (account !== undefined) accountsWithRounds.add(account)
      })
      const unwatchView = control.watch(() => {
        isStale = true
      })
      running = run(control).finally(() => {
        unwatch()
        unwatchView()
      })
    },
    stop: async () => {
      isStopping = true
      wakeUp()
      await running
    },
    deliver: async (control, limitMs) => {
      const end = clock.now() + limitMs
      for (const { name } of control.view().accounts) accountsWithRounds.add(name)
      await check(control)
      // A project counts as removed only if it is missing from the view in two checks.
      await check(control)
      for (;;) {
        await deliver(control)
        const isPending = [...control.kept().values()].some((kept) => pendingOf(kept).length > 0)
        const next = Math.min(...[...retries.values()].map(({ at }) => at))
        if (isStopping || !isPending || next > end) return
        await clock.sleep(Math.max(next - clock.now(), 1), wake.signal).catch(() => undefined)
        wake = new AbortController()
      }
    },
  }
}
