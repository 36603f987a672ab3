/** Formats times in UTC. Not with `Intl`, which is too slow for plans with thousands of changes. */

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
