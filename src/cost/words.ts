/** Formats cost figures and their basis. */

import { formatDay, group } from '../base/index.ts'
import type { CostBasis, Price } from '../model/index.ts'

/** One decimal below 10, none above, thousands with a comma: `7.3`, `292`, `1,460`; `unknown`. */
export const formatCuHours = (value: number | null): string => (value === null ? 'unknown' : grouped(value))

/** Signed: `+73`, `−110`, `±0`. */
export const formatDifference = (value: number | null): string => {
  if (value === null) return 'unknown'
  const text = grouped(Math.abs(value))
  return text === '0' ? '±0' : `${value < 0 ? '−' : '+'}${text}`
}

const grouped = (value: number): string =>
  group(Math.abs(value) < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0))
    .replace(/^-0$/, '0')
    .replace('-', '−')

/** `235.32`, `1,204.50`. */
export const formatMoney = (value: number | null): string => {
  if (value === null) return 'unknown'
  return `${value < 0 ? '−' : ''}${group(Math.abs(value).toFixed(2))}`
}

/** `+16.21`. */
export const formatMoneyDifference = (value: number | null): string =>
  value !== null && value >= 0 ? `+${formatMoney(value)}` : formatMoney(value)

/** `0.222 USD a CU-hour`. */
export const formatPrice = ({ cuHour, currency }: Price): string => `${cuHour} ${currency} a CU-hour`

/** `active 6 h a day since 1 November, 1.6 CU on average`. */
export const basisSentence = (
  basis: CostBasis,
  { isNew = false, movedFrom }: { isNew?: boolean; movedFrom?: string } = {},
): string => {
  if (isNew) return 'an estimate from its settings'
  const parts = [sharePhrase(basis), averagePhrase(basis), ...basis.flags.map((flag) => FLAG_WORDS[flag])]
  const phrase = parts.filter((part) => part !== undefined).join(', ')
  return movedFrom === undefined ? phrase : `assuming the same usage as on ${movedFrom}: ${phrase}`
}

const sharePhrase = ({ kind, activeHoursPerDay, since }: CostBasis): string => {
  if (kind === 'unknown') return 'no usage history'
  if (kind === 'settings') return 'never sleeps'
  const from = since === null ? '' : ` since ${formatDay(since)}`
  if (activeHoursPerDay === 0) return `not active${from}`
  return activeHoursPerDay === null ? `used${from}` : `active ${formatHoursPerDay(activeHoursPerDay)}${from}`
}

/** `6 h a day`, `less than 0.1 h a day`. */
export const formatHoursPerDay = (hours: number): string =>
  `${hours < 0.05 ? 'less than 0.1' : formatCuHours(hours)} h a day`

const averagePhrase = ({ averageCu }: CostBasis): string | undefined =>
  averageCu === null ? undefined : `${averageCu} CU on average`

const FLAG_WORDS = {
  'short-history': 'less than a week of history',
  clamped: 'more active hours than elapsed hours',
  'split-evenly': "the branch's hours split evenly among its computes",
} as const satisfies Readonly<Record<CostBasis['flags'][number], string>>
