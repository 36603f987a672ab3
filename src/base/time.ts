/** The clock, and times in UTC: not with `Intl`, which is too slow for plans with thousands of changes. */
import { setTimeout as delay } from 'node:timers/promises'

/** How long to wait for a step's operations or for a locked project, unless an option says otherwise. */
export const DEFAULT_TIMEOUT_MS = 600_000

/** A clock that tests can control. Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Calendar time, for times of day. May differ from `now`, which is monotonic. */
  date?(): number
  /** Resolves after `ms`. Rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Monotonic, in milliseconds. `performance.now()` is equivalent but takes longer to load. */
const uptime = (): number => process.uptime() * 1_000

const start = Date.now() - uptime()

/** Real time. Monotonic: changing the system time does not affect waits. */
export const systemClock = {
  now: (): number => Math.round(start + uptime()),
  date: (): number => Date.now(),
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
    delay(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw signal?.aborted === true ? signal.reason : error
    }),
}

/** Calendar time, in milliseconds since the epoch. */
export const dateOf = (clock: Pick<Clock, 'now' | 'date'>): number => clock.date?.() ?? clock.now()

/** An ISO time in milliseconds since the epoch; `undefined` if there is none, or it is invalid. */
export const parseTime = (iso: string | undefined): number | undefined => {
  const at = Date.parse(iso ?? '')
  return Number.isNaN(at) ? undefined : at
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** `Sun 22 Nov 02:00 UTC`. */
export const formatUtc = (at: number): string => {
  const date = new Date(at)
  const month = MONTHS[date.getUTCMonth()]?.slice(0, 3)
  return `${DAYS[date.getUTCDay()]} ${date.getUTCDate()} ${month} ${date.toISOString().slice(11, 16)} UTC`
}

/** `1 November`. */
export const formatDay = (time: string | number): string => {
  const date = new Date(time)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
}
