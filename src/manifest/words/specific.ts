/** Messages that cannot be derived from the schema. A definition refers to its entry by `$comment`. */
import { didYouMean, globProblem } from '../../base/index.ts'
import {
  formatDuration,
  nearestRange,
  nearestStep,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SIZE_TABLE,
  SIZES_IN_WORDS,
  sizeStep,
  WEEKDAYS,
} from '../../model/index.ts'
import { enumeration, list, nameOf, unquoted, type Words, words } from './words.ts'

export interface Place {
  /** The map or list that contains the value. */
  readonly parent: Readonly<Record<string, unknown>>
  readonly key: string
}

/** `'generic'`: use the message from the schema. `undefined`: the cause is reported elsewhere. */
type Specific = (value: unknown, place: Place) => Words | 'generic' | undefined

const string =
  (wordsFor: (value: string) => Words): Specific =>
  (value) =>
    typeof value === 'string' ? wordsFor(value) : 'generic'

/** A hint for a size with its unit. */
const withoutUnit = (key: string, value: unknown): string | undefined => {
  const number = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?cu$/i.exec(value)?.[1] : undefined
  return number && `Write \`${key}: ${number}\`.`
}

export const SPECIFIC: Readonly<Record<string, Specific>> = {
  E_VERSION: () => words('E_VALUE', 'Only version 1 of the format is supported.', 'Write `version: 1`.'),
  E_PROJECT: string(() =>
    words(
      'E_VALUE',
      'A project id consists of 1 to 60 lowercase letters, digits and hyphens.',
      'Copy the id from the Settings page of the console. The project name is not accepted.',
    ),
  ),
  E_PROJECT_AND_PROJECTS: () =>
    words('E_VALUE', 'A manifest cannot have both `project` and `projects`.', 'Keep one of the two.'),
  E_PIN: string(() =>
    words('E_VALUE', 'A pin must be a compute id, which starts with `ep-`.', '`espalier status` shows the ids.'),
  ),
  E_NAME: string(() =>
    words(
      'E_VALUE',
      'A compute name must have 1 to 64 characters and no control characters.',
      'Write another name, or leave it out.',
    ),
  ),
  E_EMPTY: string(() => words('E_VALUE', 'A name must not be empty.')),
  E_GLOB: string((value) => globWords(globProblem(value) ?? 'it is empty')),
  E_ABSENT: (value, { key }) => {
    const isNone = value === false || (typeof value === 'string' && NONE.test(value))
    return words(
      'E_VALUE',
      `\`${key}\` must be a map of attributes or \`absent\`, not ${nameOf(value)}.`,
      isNone ? `Write \`${key}: absent\` if the compute must not exist.` : undefined,
    )
  },
  E_SIZE_STEP: (value, { key, parent: { min, max } }) => {
    if (typeof value !== 'number') {
      return words(
        'E_VALUE',
        `\`${key}\` must be a number of compute units, not ${nameOf(value)}.`,
        unquoted(value) ?? withoutUnit(key, value),
      )
    }
    const message = `${value} CU is not a valid compute size. Valid sizes: ${SIZES_IN_WORDS}.`
    if (key !== 'size' && typeof min === 'number' && typeof max === 'number') {
      return words('E_SIZE', message, `To get the nearest valid range, write ${rangeEdit(min, max)}.`)
    }
    const near = nearestStep(value)
    return words('E_SIZE', message, near && `The nearest valid size is \`${near.cu}\`.`)
  },
  E_SPREAD: (max, { parent: { min } }) => {
    const areSteps = [min, max].every((cu) => typeof cu === 'number' && sizeStep(cu) !== undefined)
    return areSteps ? rangeProblem(Number(min), Number(max)) : undefined
  },
  E_SCALE_TO_ZERO_SIZE: (_value, { parent }) => scaleToZeroProblem(maxOf(parent.size)),
  E_DURATION: (value) => {
    if (typeof value === 'number') {
      return words('E_DURATION', `\`scaleToZero: ${value}\` has no unit.`, withUnits(value))
    }
    if (typeof value !== 'string' && value !== false) return 'generic'
    const message = '`scaleToZero` must be `default`, `never` or a duration such as `90s`, `5m` or `1h30m`.'
    if (NONE.test(String(value))) {
      return words('E_DURATION', message, 'Write `scaleToZero: never` to keep the compute active.')
    }
    return words('E_DURATION', message, /^\d+$/.test(String(value)) ? withUnits(Number(value)) : UNITS)
  },
  E_SETTING: (value, { key }) =>
    words('E_VALUE', `\`${key}\` must be a string, a number or a boolean, not ${nameOf(value)}.`),
  E_WINDOW: (value) =>
    words(
      'E_VALUE',
      `\`restartWindow\` must be a map with \`days\`, \`from\`, \`to\` and \`timezone\`, or \`always\` or \`service\`, not ${nameOf(value)}.`,
    ),
  E_DAYS: (value) =>
    Array.isArray(value)
      ? words(
          'E_WINDOW',
          'A restart window without days never opens.',
          'Leave out `days` to open the window every day.',
        )
      : 'generic',
  E_DAY: string((value) =>
    words(
      'E_VALUE',
      `\`${value}\` is not a valid day. Valid days: ${enumeration(WEEKDAYS)}.`,
      didYouMean(value.toLowerCase().slice(0, 3), WEEKDAYS),
    ),
  ),
  E_TIME: (value, { key }) => {
    if (typeof value !== 'string' && typeof value !== 'number') return 'generic'
    const [, hours = '', minutes = '00'] = /^(\d{1,2})(?::([0-5]\d))?(?::\d\d)?$/.exec(String(value)) ?? []
    const isHour = hours !== '' && Number(hours) < 24
    return words(
      'E_WINDOW',
      `\`${key}\` must be a time of day from 00:00 to ${key === 'to' ? '24:00' : '23:59'}, not \`${value}\`.`,
      isHour ? `Write \`"${hours.padStart(2, '0')}:${minutes}"\`.` : undefined,
    )
  },
  E_TIMEZONE: string((value) => timezoneProblem(value)),
  E_POLICY_RULE: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'generic'
    const count = Object.keys(value).length
    return words(
      'E_POLICY_RULE',
      `A policy must have exactly one rule, but this one has ${count === 0 ? 'none' : count}.`,
      count === 0 ? 'For example, write `rule: { maxSize: 0.25 }`.' : 'Write a separate policy for each rule.',
    )
  },
  E_CURRENCY: string((value) =>
    words(
      'E_VALUE',
      `A currency must be a code of three capital letters, not \`${value}\`.`,
      'For example, write `currency: USD`.',
    ),
  ),
  E_POLICY_DURATION: (_value, { key }) =>
    words('E_DURATION', `\`${key}\` must be a duration such as \`90s\`, \`5m\` or \`1h30m\`.`, UNITS),
}

const UNITS = 'The units are d, h, m and s, in this order.'

const NONE = /^(none|null|no|off|false|disabled|deleted?)$/i

/** @param why from `globProblem` */
export const globWords = (why: string): Words =>
  words(
    'E_GLOB',
    `This is not a valid glob: ${why}.`,
    'For example, write `preview/*`, `pr-[0-9]*` or `{dev,test}/**`. Outside of them, `[` and `{` cannot be used.',
  )

/** Suggests seconds, the unit of the API, in both spellings: `300s` or `5m`. */
const withUnits = (seconds: number): string => {
  const isInRange = seconds >= SCALE_TO_ZERO_MIN_SECONDS && seconds <= SCALE_TO_ZERO_MAX_SECONDS
  if (!isInRange || !Number.isInteger(seconds)) return 'Write a duration from 1m to 7d, `default` or `never`.'
  return `Write ${list([...new Set([`${seconds}s`, formatDuration(seconds)])])}.`
}

const maxOf = (size: unknown): number =>
  typeof size === 'object' && size !== null && 'max' in size ? Number(size.max) : Number(size)

export const scaleToZeroProblem = (cu: number): Words => {
  const { scaleToZeroMaxCu: limit } = SIZE_TABLE
  return words(
    'E_SCALE_TO_ZERO_SIZE',
    `A compute above ${limit} CU cannot scale to zero, and this one has ${cu} CU.`,
    `Write \`scaleToZero: never\`, or a size of at most ${limit} CU.`,
  )
}

/** The edit that makes the nearest valid range of these limits: `max: 8`, or `{ min: 1, max: 8 }`. */
const rangeEdit = (min: number, max: number): string => {
  const near = nearestRange(Math.min(min, max), Math.max(min, max))
  if (near.min === min) return `\`max: ${near.max}\``
  return near.max === max ? `\`min: ${near.min}\`` : `\`{ min: ${near.min}, max: ${near.max} }\``
}

const rangeProblem = (min: number, max: number): Words => {
  const { autoscalingMaxCu, maxSpreadCu } = SIZE_TABLE
  if (min > max) {
    const message = `\`min\` (${min} CU) is above \`max\` (${max} CU).`
    return { ...words('E_SIZE', message, `Write ${rangeEdit(min, max)}.`), at: 'min' }
  }
  if (max > autoscalingMaxCu) {
    const hint = `Write ${rangeEdit(min, max)}, or the fixed size \`size: ${max}\`.`
    return words('E_SIZE', `Autoscaling is limited to ${autoscalingMaxCu} CU, but \`max\` is ${max}.`, hint)
  }
  return words(
    'E_SIZE',
    `\`max\` can be at most ${maxSpreadCu} CU above \`min\`, but ${max} is ${max - min} CU above ${min}.`,
    `To get the nearest valid range, write ${rangeEdit(min, max)}.`,
  )
}

export const timezoneProblem = (value: string): Words => {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  // Users may give only the city of a time zone.
  const city = value.replaceAll(' ', '_').toLowerCase()
  const zone = zones.find((one) => one.toLowerCase().endsWith(`/${city}`))
  const hint = zone === undefined ? didYouMean(value, zones) : `Did you mean \`${zone}\`?`
  return words(
    'E_WINDOW',
    `\`${value}\` is not a valid time zone.`,
    hint ?? 'Use an IANA name, such as `Europe/Berlin` or `UTC`.',
  )
}
