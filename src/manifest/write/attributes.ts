/** Attributes of a live compute, in the words of a manifest. */
import {
  type ComputeAttributes,
  formatDuration,
  isFixed,
  type RestartWindow,
  SCALE_TO_ZERO_DEFAULT,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
  type Size,
  sizeStep,
  WEEKDAYS,
} from '../../model/index.ts'

/** A manifest's map, in the order in which a person would write it. */
export type Written = Map<string, unknown>

/** What a manifest cannot say of this compute is left out, and so not managed. */
export const writtenOf = (attributes: ComputeAttributes): Written => {
  const { size, scaleToZero, disabled, postgresSettings = {}, postgresPreload } = attributes
  const written: Written = new Map()
  if (size !== undefined && canSaySize(size)) written.set('size', isFixed(size) ? size.min : flow(size))
  if (scaleToZero !== undefined && canSayTime(scaleToZero, size)) written.set('scaleToZero', timeOf(scaleToZero))
  if (disabled === true) written.set('disabled', true)
  const settings = Object.entries(postgresSettings).sort(([a], [b]) => (a < b ? -1 : 1))
  const postgres: Written = new Map()
  if (settings.length > 0) postgres.set('settings', new Map(settings))
  if (postgresPreload !== undefined && postgresPreload.length > 0) postgres.set('preload', [...postgresPreload])
  if (postgres.size > 0) written.set('postgres', postgres)
  return written
}

/** Everything that a declaration manages, what is as it would be anyway included. */
export const declaredOf = (attributes: ComputeAttributes): Written => {
  const { disabled, poolerEnabled, poolerMode, passwordlessAccess } = attributes
  const pooler: Written = new Map()
  if (poolerEnabled !== undefined) pooler.set('enabled', poolerEnabled)
  if (poolerMode !== undefined) pooler.set('mode', poolerMode)
  const written = writtenOf(attributes)
  if (disabled !== undefined) written.set('disabled', disabled)
  if (pooler.size > 0) written.set('pooler', pooler)
  if (passwordlessAccess !== undefined) written.set('passwordlessAccess', passwordlessAccess)
  return written
}

export const windowOf = (window: RestartWindow | 'always'): unknown => {
  if (window === 'always') return window
  const { days, from, to, timezone } = window
  const isDaily = days.length === WEEKDAYS.length
  return new Map<string, unknown>([
    ...(isDaily ? [] : [['days', days] as const]),
    ['from', from],
    ['to', to],
    ['timezone', timezone],
  ])
}

const flow = ({ min, max }: Size): Written =>
  new Map([
    ['min', min],
    ['max', max],
  ])

export const canSaySize = ({ min, max }: Size): boolean => {
  if (sizeStep(min) === undefined || sizeStep(max) === undefined || min > max) return false
  return min === max || (max <= SIZE_TABLE.autoscalingMaxCu && max - min <= SIZE_TABLE.maxSpreadCu)
}

export const canSayTime = (seconds: number, size: Size | undefined): boolean => {
  if (seconds === SCALE_TO_ZERO_NEVER) return true
  if (size !== undefined && size.max > SIZE_TABLE.scaleToZeroMaxCu) return false
  return (
    seconds === SCALE_TO_ZERO_DEFAULT || (seconds >= SCALE_TO_ZERO_MIN_SECONDS && seconds <= SCALE_TO_ZERO_MAX_SECONDS)
  )
}

const timeOf = (seconds: number): string => {
  if (seconds === SCALE_TO_ZERO_NEVER) return 'never'
  return seconds === SCALE_TO_ZERO_DEFAULT ? 'default' : formatDuration(seconds)
}

/** One attribute by its path in a manifest; `undefined` where the live compute lacks it, or a manifest cannot say it. */
export const writtenAt = (path: string, attributes: ComputeAttributes): unknown => {
  const { name, disabled = false, poolerEnabled, poolerMode, passwordlessAccess, postgresPreload } = attributes
  const setting = /^postgres\.settings\.(.+)$/s.exec(path)?.[1]
  if (setting !== undefined) return attributes.postgresSettings?.[setting]
  const own: Readonly<Record<string, unknown>> = {
    name,
    disabled,
    'pooler.enabled': poolerEnabled,
    'pooler.mode': poolerMode,
    passwordlessAccess,
    'postgres.preload': postgresPreload === undefined ? undefined : [...postgresPreload],
  }
  return path in own ? own[path] : writtenOf(attributes).get(path)
}
