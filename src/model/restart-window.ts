/** When computes may be interrupted: a part of the week, by the clock on the wall of a place. */

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

export type Weekday = (typeof WEEKDAYS)[number]

export interface RestartWindow {
  /** The days on which it opens, from Monday on, each once. */
  readonly days: readonly Weekday[]
  /** `HH:MM`, 00:00 to 23:59. */
  readonly from: string
  /** `HH:MM`, 00:01 to 24:00, and not `from`. Where it is before `from`, the window closes on the next day. */
  readonly to: string
  /** IANA time zone: `Europe/Berlin`, `UTC`. */
  readonly timezone: string
}

/** `Sun 02:00–04:00 Europe/Berlin`, `Mon–Fri 22:00–04:00 UTC`, `daily 00:00–24:00 UTC`. */
export const formatWindow = ({ days, from, to, timezone }: RestartWindow): string =>
  `${formatDays(days)} ${from}–${to} ${timezone}`

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
