/** When restart windows open and close. Not exported by index.ts, because few commands need the library for time zones. */
import { Temporal } from 'temporal-polyfill'
import { minuteOfDay, type RestartWindow, WEEKDAYS, weekdayTitle } from './restart-window.ts'

export interface Opening {
  /** Whether all of the windows are open. */
  readonly isOpen: boolean
  /** The next time at which all windows are open, ISO 8601 in UTC; absent if there is none within a year. */
  readonly opensAt?: string
  /** The same time in the time zone of the first window: `Sun 2026-11-22 02:00`. */
  readonly opensLocally?: string
}

/** A window recurs every week, except when a clock change skips it. */
const HORIZON_DAYS = 15
/** Windows in different time zones may overlap only between their clock changes. */
const HORIZON_OF_SEVERAL_DAYS = 370

/**
 * A window is open while the local time of its zone is within it. A clock change inside it makes it an hour shorter or
 * longer; if the change skips all of it, it does not open.
 *
 * @param windows at least one; all of them must be open.
 * @param at milliseconds since the epoch.
 */
export const openingOf = (windows: readonly RestartWindow[], at: number): Opening => {
  const areOpen = (moment: number): boolean => windows.every((window) => isOpen(window, moment))
  if (areOpen(at)) return { isOpen: true }
  // The first moment at which all are open is when one of them opens.
  const days = windows.length === 1 ? HORIZON_DAYS : HORIZON_OF_SEVERAL_DAYS
  const moments = windows.flatMap((window) => openings(window, at, days)).filter((moment) => moment > at)
  const first = moments.sort((a, b) => a - b).find(areOpen)
  const [window] = windows
  if (first === undefined || window === undefined) return { isOpen: false }
  return { isOpen: false, opensAt: new Date(first).toISOString(), opensLocally: localTime(zoned(first, window)) }
}

/**
 * When the windows are open and stay open for at least `ms`. Openings that are too short are skipped. `opensAt` is
 * absent if no opening within two weeks is long enough.
 *
 * @param at milliseconds since the epoch.
 */
export const openingFor = (windows: readonly RestartWindow[], at: number, ms: number): Opening => {
  const fits = (from: number): boolean => ms === 0 || closingOf(windows, from) - from >= ms
  const first = openingOf(windows, at)
  if (first.isOpen && fits(at)) return first
  let next = first.isOpen ? openingOf(windows, closingOf(windows, at)) : first
  while (next.opensAt !== undefined) {
    const from = Date.parse(next.opensAt)
    if (fits(from)) return next
    if (from > at + HORIZON_DAYS * 86_400_000) break
    next = openingOf(windows, closingOf(windows, from))
  }
  return { isOpen: false }
}

/** When the first of the windows, all open at `at`, closes; milliseconds since the epoch. */
export const closingOf = (windows: readonly RestartWindow[], at: number): number => {
  const areOpen = (moment: number): boolean => windows.every((window) => isOpen(window, moment))
  const endOf = ({ to }: RestartWindow): string => (to === '24:00' ? '00:00' : to)
  const end = windows
    .flatMap((window) => openings({ ...window, from: endOf(window) }, at, HORIZON_DAYS))
    .filter((moment) => moment > at)
    .sort((a, b) => a - b)
    .find((moment) => !areOpen(moment))
  return end ?? at + HORIZON_DAYS * 86_400_000
}

const zoned = (at: number, { timezone }: RestartWindow): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(timezone)

const isOpen = (window: RestartWindow, at: number): boolean => {
  const { dayOfWeek, hour, minute } = zoned(at, window)
  const now = hour * 60 + minute
  const [from, to] = [minuteOfDay(window.from), minuteOfDay(window.to)]
  const opensOn = (day: number): boolean => window.days.some((one) => WEEKDAYS.indexOf(one) === day % 7)
  const [today, yesterday] = [dayOfWeek - 1, dayOfWeek + 5]
  if (from < to) return opensOn(today) && now >= from && now < to
  return (opensOn(today) && now >= from) || (opensOn(yesterday) && now < to)
}

/** Possible opening times: `from` on each day (twice if the clock repeats it), and each clock change. */
const openings = (window: RestartWindow, at: number, days: number): readonly number[] => {
  const start = zoned(at, window)
  const moments: number[] = []
  for (let day = 0; day <= days; day += 1) {
    const time = start.toPlainDate().add({ days: day }).toPlainDateTime(window.from)
    for (const disambiguation of ['earlier', 'later'] as const) {
      moments.push(time.toZonedDateTime(window.timezone, { disambiguation }).epochMilliseconds)
    }
  }
  const end = start.add({ days })
  for (
    let jump = nextJump(start);
    jump !== null && jump.epochMilliseconds < end.epochMilliseconds;
    jump = nextJump(jump)
  ) {
    moments.push(jump.epochMilliseconds)
  }
  return moments
}

const nextJump = (from: Temporal.ZonedDateTime): Temporal.ZonedDateTime | null => from.getTimeZoneTransition('next')

const localTime = (time: Temporal.ZonedDateTime): string =>
  `${weekdayTitle(WEEKDAYS[time.dayOfWeek - 1])} ${time.toPlainDate().toString()} ${time.toPlainTime().toString({ smallestUnit: 'minute' })}`
