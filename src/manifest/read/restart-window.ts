/** When computes may be interrupted. */
import { isScalar, isSeq, type Node } from 'yaml'
import { type RestartWindow, WEEKDAYS, type Weekday } from '../../model/index.ts'
import { didYouMean, list, type ReadContext } from './context.ts'
import { readText } from './values.ts'

/** `always`: no window, whatever lies below. */
export type WindowValue = RestartWindow | 'always'

export const readRestartWindow = (context: ReadContext, node: Node | null): WindowValue | undefined => {
  if (isScalar(node)) {
    return node.value === 'always'
      ? 'always'
      : context.wrongType(node, '`restartWindow`', 'a map of `days`, `from`, `to` and `timezone`, or `always`')
  }
  const entries = context.known(node, '`restartWindow`', ['days', 'from', 'to', 'timezone'])
  if (entries === undefined) return undefined
  for (const key of ['from', 'to', 'timezone']) {
    if (!entries.has(key)) {
      context.report('E_REQUIRED', node, `A restart window needs \`${key}\`.`, EXAMPLE)
    }
  }
  const daysEntry = entries.get('days')
  const days = daysEntry === undefined ? WEEKDAYS : readDays(context, daysEntry.value)
  const [from, to] = (['from', 'to'] as const).map((key) => {
    const entry = entries.get(key)
    return entry === undefined ? undefined : readTime(context, entry.value, key)
  })
  const zoneEntry = entries.get('timezone')
  const timezone = zoneEntry && readTimezone(context, zoneEntry.value)
  if (days === undefined || from === undefined || to === undefined || timezone === undefined) return undefined
  if (from !== to) return { days, from, to, timezone }
  return context.report(
    'E_WINDOW_EMPTY',
    entries.get('to')?.value,
    `A window from ${from} to ${to} is never open.`,
    'All day is `from: "00:00"` and `to: "24:00"`; no window at all is `restartWindow: always`.',
  )
}

const EXAMPLE = 'Write `{ days: [sun], from: "02:00", to: "04:00", timezone: Europe/Berlin }`.'

const readDays = (context: ReadContext, node: Node | null): readonly Weekday[] | undefined => {
  if (!isSeq(node)) return context.wrongType(node, '`days`', 'a list')
  if (node.items.length === 0) {
    return context.report(
      'E_WINDOW_EMPTY',
      node,
      'A window without a day is never open.',
      'Leave `days` out for every day.',
    )
  }
  const days = node.items.map((item) => readDay(context, context.follow(item as Node)))
  return days.includes(undefined) ? undefined : WEEKDAYS.filter((day) => days.includes(day))
}

const readDay = (context: ReadContext, node: Node | null): Weekday | undefined => {
  const text = readText(context, node, 'An entry of `days`')
  const day = WEEKDAYS.find((one) => one === text)
  if (text === undefined || day !== undefined) return day
  return context.report(
    'E_VALUE',
    node,
    `There is no day \`${text}\`; there is ${list(WEEKDAYS)}.`,
    didYouMean(text.toLowerCase().slice(0, 3), WEEKDAYS),
  )
}

const readTime = (context: ReadContext, node: Node | null, key: 'from' | 'to'): string | undefined => {
  const text =
    isScalar(node) && typeof node.value === 'number' ? String(node.value) : readText(context, node, `\`${key}\``)
  if (text === undefined || /^([01]\d|2[0-3]):[0-5]\d$/.test(text) || (key === 'to' && text === '24:00')) return text
  const [, hours = '', minutes = '00'] = /^(\d{1,2})(?::([0-5]\d))?(?::\d\d)?$/.exec(text) ?? []
  return context.report(
    'E_TIME',
    node,
    `\`${key}\` is a time of day from 00:00 to ${key === 'to' ? '24:00' : '23:59'}, and \`${text}\` is none.`,
    hours !== '' && Number(hours) < 24 ? `Write ${list([`"${hours.padStart(2, '0')}:${minutes}"`])}.` : undefined,
  )
}

const readTimezone = (context: ReadContext, node: Node | null): string | undefined => {
  const text = readText(context, node, '`timezone`')
  if (text === undefined || isTimezone(text)) return text
  return context.report(
    'E_TIMEZONE',
    node,
    `There is no time zone \`${text}\`.`,
    ['It takes IANA names.', zoneHint(text)].filter((part) => part !== undefined).join(' '),
  )
}

/** Names only: an offset such as `+02:00` knows no daylight saving. */
const isTimezone = (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** People write the city alone. */
const zoneHint = (text: string): string | undefined => {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const city = text.replaceAll(' ', '_').toLowerCase()
  const zone = zones.find((one) => one.toLowerCase().endsWith(`/${city}`))
  return zone === undefined ? didYouMean(text, zones) : `Did you mean \`${zone}\`?`
}
