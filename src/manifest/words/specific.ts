/** Messages that cannot be derived from the schema. A definition refers to its entry by `$comment`. */
import {
  globProblem,
  nearestStep,
  parseDuration,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  type SizeTable,
  sizeStep,
  sizesInWords,
  WEEKDAYS,
} from '../../model/index.ts'
import { didYouMean, list, nameOf } from './list.ts'
import type { Words } from './words.ts'

export interface Place {
  /** The map or list that contains the value. */
  readonly parent: Readonly<Record<string, unknown>>
  readonly key: string
  readonly table: SizeTable
}

/** `'generic'`: use the message from the schema. `undefined`: the cause is reported elsewhere. */
type Specific = (value: unknown, place: Place) => Words | 'generic' | undefined

const text =
  (words: (value: string, place: Place) => Words | undefined): Specific =>
  (value, place) =>
    typeof value === 'string' ? words(value, place) : 'generic'

export const SPECIFIC: Readonly<Record<string, Specific>> = {
  E_VERSION: () => ({
    code: 'E_VERSION',
    message: 'This program reads version 1 of the format.',
    hint: 'Write `version: 1`.',
  }),
  E_PROJECT: text(() => ({
    code: 'E_VALUE',
    message: 'A project id has 1 to 60 lower-case letters, digits and hyphens.',
    hint: 'Find it in the console under Settings. The name of the project does not work here.',
  })),
  E_PROJECT_AND_PROJECTS: () => ({
    code: 'E_VALUE',
    message: 'A manifest cannot have both `project` and `projects`.',
    hint: 'Keep one of the two.',
  }),
  E_PIN: text(() => ({
    code: 'E_PIN',
    message: 'A pin is the id of a compute, which starts with `ep-`.',
    hint: '`espalier status` shows the ids.',
  })),
  E_NAME: text(() => ({
    code: 'E_NAME',
    message: 'A compute name has 1 to 64 characters, none of them a control character.',
  })),
  E_GLOB: text((value) => ({
    code: 'E_GLOB',
    message: `This is not a valid glob: ${globProblem(value) ?? 'it is empty'}.`,
  })),
  E_ABSENT: (value, { key }) => {
    const isNone = value === false || (typeof value === 'string' && NONE.test(value))
    return {
      code: 'E_TYPE',
      message: `\`${key}\` must be a map of attributes, or \`absent\`, not ${nameOf(value)}.`,
      ...(isNone ? { hint: `Write \`${key}: absent\` for a branch without a primary.` } : {}),
    }
  },
  E_SIZE_STEP: (value, { table, key }) => {
    if (typeof value !== 'number') {
      return { code: 'E_TYPE', message: `\`${key}\` must be a number of compute units, not ${nameOf(value)}.` }
    }
    const near = nearestStep(value, table)
    return {
      code: 'E_SIZE_STEP',
      message: `${value} CU is not a valid compute size. Valid sizes: ${sizesInWords(table)}.`,
      ...(near === undefined ? {} : { hint: `The nearest is \`${near.cu}\`.` }),
    }
  },
  E_SPREAD: (max, { parent: { min }, table }) => {
    if (typeof max !== 'number' || typeof min !== 'number' || sizeStep(max, table) === undefined) return undefined
    return rangeProblem(min, max, table)
  },
  E_SCALE_TO_ZERO_SIZE: (_value, { parent, table }) => scaleToZeroProblem(maxOf(parent.size), table),
  E_DURATION: (value) => {
    if (typeof value === 'number') {
      return {
        code: 'E_DURATION_UNIT',
        message: `\`scaleToZero: ${value}\` has no unit.`,
        hint: `${withUnits(value)}; \`default\` and \`never\` are words.`,
      }
    }
    if (typeof value !== 'string') return 'generic'
    return {
      code: 'E_DURATION',
      message: '`scaleToZero` is `default`, `never` or a duration such as `90s`, `5m` or `1h30m`.',
      hint: /^\d+$/.test(value) ? `${withUnits(Number(value))}.` : 'Units are d, h, m and s, in this order.',
    }
  },
  E_SETTING: (value, { key }) => ({
    code: 'E_TYPE',
    message: `\`${key}\` must be text, a number or a boolean, not ${nameOf(value)}.`,
  }),
  E_WINDOW: (value) => ({
    code: 'E_TYPE',
    message: `\`restartWindow\` must be a map of \`days\`, \`from\`, \`to\` and \`timezone\`, \`always\` or \`service\`, not ${nameOf(value)}.`,
  }),
  E_DAYS: (value) =>
    Array.isArray(value)
      ? {
          code: 'E_WINDOW_EMPTY',
          message: 'A window without a day is never open.',
          hint: 'Leave `days` out for every day.',
        }
      : 'generic',
  E_DAY: text((value) => {
    const hint = didYouMean(value.toLowerCase().slice(0, 3), WEEKDAYS)
    return {
      code: 'E_VALUE',
      message: `\`${value}\` is not a day; write ${list(WEEKDAYS)}.`,
      ...(hint === undefined ? {} : { hint }),
    }
  }),
  E_TIME: (value, { key }) => {
    if (typeof value !== 'string' && typeof value !== 'number') return 'generic'
    const [, hours = '', minutes = '00'] = /^(\d{1,2})(?::([0-5]\d))?(?::\d\d)?$/.exec(String(value)) ?? []
    const isHour = hours !== '' && Number(hours) < 24
    return {
      code: 'E_TIME',
      message: `\`${key}\` is a time of day from 00:00 to ${key === 'to' ? '24:00' : '23:59'}; \`${value}\` is not.`,
      ...(isHour ? { hint: `Write \`"${hours.padStart(2, '0')}:${minutes}"\`.` } : {}),
    }
  },
  E_TIMEZONE: text((value) => timezoneProblem(value)),
  E_POLICY_RULE: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'generic'
    const count = Object.keys(value).length
    return {
      code: 'E_POLICY_RULE',
      message: `A policy has exactly one rule, and this one has ${count === 0 ? 'none' : count}.`,
      hint: count === 0 ? 'Write `rule: { maxSize: 0.25 }`.' : 'Write a policy for each, with its own name and reason.',
    }
  },
  E_CURRENCY: text((value) => ({
    code: 'E_VALUE',
    message: `A currency has three capital letters; \`${value}\` does not.`,
    hint: 'For example `currency: USD`.',
  })),
  E_POLICY_DURATION: (_value, { key }) => ({
    code: 'E_DURATION',
    message: `\`${key}\` is a duration such as \`90s\`, \`5m\` or \`1h30m\`.`,
    hint: 'Units are d, h, m and s, in this order.',
  }),
}

const NONE = /^(none|null|no|off|false|disabled|deleted?)$/i

/** Suggests only units with which the value is in range. */
const withUnits = (count: number): string => {
  const fitting = [`${count}s`, `${count}m`].filter((text) => {
    const seconds = parseDuration(text) ?? 0
    return seconds >= SCALE_TO_ZERO_MIN_SECONDS && seconds <= SCALE_TO_ZERO_MAX_SECONDS
  })
  return fitting.length === 0 ? 'It takes from 1m to 7d' : `Write ${list(fitting)}`
}

const maxOf = (size: unknown): number =>
  typeof size === 'object' && size !== null && 'max' in size ? Number(size.max) : Number(size)

export const scaleToZeroProblem = (cu: number, { scaleToZeroMaxCu: limit }: SizeTable): Words => ({
  code: 'E_SCALE_TO_ZERO_SIZE',
  message: `A compute above ${limit} CU never scales to zero, and this one has ${cu} CU.`,
  hint: `Write \`scaleToZero: never\`, or a size up to ${limit}.`,
})

const rangeProblem = (min: number, max: number, table: SizeTable): Words => {
  const { autoscalingMaxCu, maxSpreadCu } = table
  if (min > max) {
    return {
      code: 'E_MIN_ABOVE_MAX',
      message: `\`min\` (${min} CU) is above \`max\` (${max} CU).`,
      hint: `Write \`{ min: ${max}, max: ${min} }\`.`,
      at: 'min',
    }
  }
  if (max > autoscalingMaxCu) {
    return {
      code: 'E_AUTOSCALING_MAX',
      message: `Autoscaling goes up to ${autoscalingMaxCu} CU, and \`max\` is ${max}.`,
      hint: `Write \`max: ${autoscalingMaxCu}\`, or a fixed size: \`size: ${max}\`.`,
    }
  }
  return {
    code: 'E_SPREAD',
    message: `\`max\` may be at most ${maxSpreadCu} CU above \`min\`, and ${max} is ${max - min} above ${min}.`,
    hint: `The nearest is \`max: ${nearestStep(min + maxSpreadCu, table)?.cu ?? min + maxSpreadCu}\`.`,
  }
}

export const timezoneProblem = (value: string): Words => ({
  code: 'E_TIMEZONE',
  message: `There is no time zone \`${value}\`.`,
  hint: ['It takes IANA names.', ...(zoneHint(value) ?? [])].join(' '),
})

/** Users may write only the city. */
const zoneHint = (value: string): readonly string[] | undefined => {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const city = value.replaceAll(' ', '_').toLowerCase()
  const zone = zones.find((one) => one.toLowerCase().endsWith(`/${city}`))
  const hint = zone === undefined ? didYouMean(value, zones) : `Did you mean \`${zone}\`?`
  return hint === undefined ? undefined : [hint]
}
