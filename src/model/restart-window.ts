/** When computes may be interrupted: times of the week in a time zone. */
import type { MaintenanceWindow } from './observed.ts'

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

export type Weekday = (typeof WEEKDAYS)[number]

export interface RestartWindow {
  /** Days on which the window opens, starting from Monday, without duplicates. */
  readonly days: readonly Weekday[]
  /** `HH:MM`, 00:00 to 23:59. */
  readonly from: string
  /** `HH:MM`, 00:01 to 24:00, different from `from`. If earlier than `from`, the window closes on the next day. */
  readonly to: string
  /** IANA time zone: `Europe/Berlin`, `UTC`. */
  readonly timezone: string
}

/** A window in a manifest. `'always'`: any time; `'service'`: the project's own maintenance window. */
export type DeclaredWindow = RestartWindow | 'always' | 'service'

/** Stands for an unknown maintenance window. It has no days, so it never opens. */
export const UNKNOWN_SERVICE_WINDOW: RestartWindow = { days: [], from: '00:00', to: '24:00', timezone: 'UTC' }

/** The project's own maintenance window as a restart window. */
export const serviceWindow = (window: MaintenanceWindow | undefined): RestartWindow => {
  if (window === undefined) return UNKNOWN_SERVICE_WINDOW
  const days = WEEKDAYS.filter((_, index) => window.weekdays.includes(index + 1))
  const to = window.to === '00:00' ? '24:00' : window.to
  const isTime = [window.from, window.to].every((time) => /^([01]\d|2[0-3]):[0-5]\d$/.test(time))
  return days.length === 0 || !isTime || window.from === to
    ? UNKNOWN_SERVICE_WINDOW
    : { days, from: window.from, to, timezone: 'UTC' }
}

/** `Sun 02:00–04:00 Europe/Berlin`, `Mon–Fri 22:00–04:00 UTC`, `daily 00:00–24:00 UTC`. */
export const formatWindow = ({ days, from, to, timezone }: RestartWindow): string =>
  days.length === 0
    ? "the project's maintenance window, which is unknown"
    : `${formatDays(days)} ${from}–${to} ${timezone}`

const formatDays = (days: readonly Weekday[]): string => {
  if (days.length === WEEKDAYS.length) return 'daily'
  const runs: Weekday[][] = []
  for (const day of WEEKDAYS.filter((one) => days.includes(one))) {
    const last = runs.at(-1)
    const before = last?.at(-1)
    if (before !== undefined && WEEKDAYS.indexOf(day) === WEEKDAYS.indexOf(before) + 1) last?.push(day)
    else runs.push([day])
  }
  return runs
    .map((run) =>
      run.length > 2 ? `${weekdayTitle(run[0])}–${weekdayTitle(run.at(-1))}` : run.map(weekdayTitle).join(', '),
    )
    .join(', ')
}

/** `Sun`. */
export const weekdayTitle = (day: string | undefined): string => `${day?.charAt(0).toUpperCase()}${day?.slice(1)}`

/** @param time `HH:MM`. */
export const minuteOfDay = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

const WEEK_MINUTES = 7 * 24 * 60

/** The minutes of the week, in UTC, at which a window in a zone with this offset is open. */
const minutesOf = ({ days, from, to }: RestartWindow, offset: number): ReadonlySet<number> => {
  const [start, end] = [minuteOfDay(from), minuteOfDay(to)]
  const length = end > start ? end - start : end - start + 24 * 60
  return new Set(
    days.flatMap((day) => {
      const first = WEEKDAYS.indexOf(day) * 24 * 60 + start - offset + WEEK_MINUTES
      return Array.from({ length }, (_, minute) => (first + minute) % WEEK_MINUTES)
    }),
  )
}

/** The offsets of the time zones from UTC, in minutes, on each day of the year after `at`; without duplicates. */
const offsetsOf = (zones: readonly [string, string], at: number): readonly (readonly [number, number])[] => {
  const [one, other] = zones
  if (one === other) return [[0, 0]]
  const readers = zones.map((timeZone) => new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }))
  const pairs = Array.from({ length: 366 }, (_, day) =>
    readers.map((reader) => {
      const text = reader.formatToParts(at + day * 86_400_000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      const [, sign = '+', hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)/.exec(text) ?? []
      return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
    }),
  )
  return [...new Map(pairs.map((pair) => [pair.join(), pair as unknown as readonly [number, number]])).values()]
}

/**
 * Whether `after` is open at a time at which `before` is closed. `undefined` is open at any time.
 *
 * @param at milliseconds since the epoch. Offsets between time zones are those of the following year.
 */
export const opensMore = (before: RestartWindow | undefined, after: RestartWindow | undefined, at: number): boolean => {
  if (before === undefined) return false
  if (after === undefined) return minutesOf(before, 0).size < WEEK_MINUTES
  return offsetsOf([before.timezone, after.timezone], at).some(([was, is]) => {
    const open = minutesOf(before, was)
    return [...minutesOf(after, is)].some((minute) => !open.has(minute))
  })
}
