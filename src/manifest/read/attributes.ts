/** The attributes of a compute, and how defaults, profiles and a compute's own override each other. */
import {
  type ComputeAttributes,
  formatDuration,
  parseDuration,
  type RestartWindow,
  SCALE_TO_ZERO_DEFAULT,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SCALE_TO_ZERO_NEVER,
  type Source,
  WEEKDAYS,
} from '../../model/index.ts'
import type { AttributesValue, WindowValue } from '../definition/index.ts'
import { timezoneProblem } from '../words/specific.ts'
import type { Tree } from '../yaml/tree.ts'

/** Attributes with the place of each, by manifest path. */
export interface AttributeSet {
  readonly values: ComputeAttributes
  readonly restartWindow?: RestartWindow | 'always'
  readonly sources: Readonly<Record<string, Source>>
}

export const NO_ATTRIBUTES: AttributeSet = { values: {}, sources: {} }

export const readAttributes = (tree: Tree, own: AttributesValue): AttributeSet => {
  const { size, scaleToZero, disabled, pooler, passwordlessAccess, postgres } = own
  const restartWindow = own.restartWindow === undefined ? undefined : readWindow(tree, own.restartWindow)
  const seconds = scaleToZero === undefined ? undefined : readScaleToZero(tree, own, scaleToZero)
  const sources: Record<string, Source> = {}
  const values = {
    ...(size === undefined ? {} : { size: typeof size === 'number' ? { min: size, max: size } : { ...size } }),
    ...(seconds === undefined ? {} : { scaleToZero: seconds }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(pooler?.enabled === undefined ? {} : { poolerEnabled: pooler.enabled }),
    ...(pooler?.mode === undefined ? {} : { poolerMode: pooler.mode }),
    ...(passwordlessAccess === undefined ? {} : { passwordlessAccess }),
    ...(postgres?.settings === undefined ? {} : { postgresSettings: settingsOf(tree, postgres.settings) }),
    ...(postgres?.preload === undefined ? {} : { postgresPreload: [...postgres.preload] }),
  }
  for (const key of ['size', 'scaleToZero', 'disabled', 'passwordlessAccess'] as const) {
    if (values[key] !== undefined) sources[key] = tree.source(own, key)
  }
  for (const key of Object.keys(pooler ?? {})) sources[`pooler.${key}`] = tree.source(pooler, key)
  for (const key of Object.keys(postgres ?? {})) sources[`postgres.${key}`] = tree.source(postgres, key)
  for (const name of Object.keys(postgres?.settings ?? {})) {
    sources[`postgres.settings.${name}`] = tree.source(postgres?.settings, name)
  }
  return { values, sources, ...(restartWindow === undefined ? {} : { restartWindow }) }
}

/** Settings are texts to the service, as they were written. */
const settingsOf = (tree: Tree, settings: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (tree.written(settings, name) ?? String(value)),
    ]),
  )

/** Seconds as the API takes them. */
const readScaleToZero = (tree: Tree, parent: object, value: string): number | undefined => {
  if (value === 'default') return SCALE_TO_ZERO_DEFAULT
  if (value === 'never') return SCALE_TO_ZERO_NEVER
  const seconds = parseDuration(value)
  if (seconds === undefined) return undefined
  const near = Math.min(Math.max(seconds, SCALE_TO_ZERO_MIN_SECONDS), SCALE_TO_ZERO_MAX_SECONDS)
  if (near === seconds) return seconds
  tree.report(
    'E_DURATION_RANGE',
    tree.source(parent, 'scaleToZero'),
    '`scaleToZero` takes from 1m to 7d.',
    `The nearest is \`${formatDuration(near)}\`.`,
  )
  return undefined
}

export const readWindow = (tree: Tree, value: WindowValue): RestartWindow | 'always' | undefined => {
  if (value === 'always') return value
  const { days, from, to, timezone } = value
  if (!isTimezone(timezone)) {
    const { code, message, hint } = timezoneProblem(timezone)
    tree.report(code, tree.source(value, 'timezone'), message, hint)
    return undefined
  }
  if (from === to) {
    tree.report(
      'E_WINDOW_EMPTY',
      tree.source(value, 'to'),
      `A window from ${from} to ${to} is never open.`,
      'All day is `from: "00:00"` and `to: "24:00"`; no window at all is `restartWindow: always`.',
    )
    return undefined
  }
  return { days: days === undefined ? WEEKDAYS : WEEKDAYS.filter((day) => days.includes(day)), from, to, timezone }
}

/** Names only: an offset such as `+02:00` knows no daylight saving. */
const isTimezone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The later one wins; Postgres settings are merged name by name. */
export const overlay = (below: AttributeSet, above: AttributeSet): AttributeSet => ({
  ...below,
  ...above,
  values: {
    ...below.values,
    ...above.values,
    ...(below.values.postgresSettings === undefined || above.values.postgresSettings === undefined
      ? {}
      : { postgresSettings: { ...below.values.postgresSettings, ...above.values.postgresSettings } }),
  },
  sources: { ...below.sources, ...above.sources },
})
