/**
 * Scale to zero, as in the API's `suspend_timeout_seconds`: 0 is the service's default, -1 is never, other values are
 * seconds (public OpenAPI of the service).
 */
import { formatDuration } from './duration.ts'
import { canScaleToZero, type Size } from './size.ts'

export const SCALE_TO_ZERO_DEFAULT = 0
export const SCALE_TO_ZERO_NEVER = -1
/** The service's default (the public API reference: idle after 5 minutes). */
export const SCALE_TO_ZERO_DEFAULT_SECONDS = 300
export const SCALE_TO_ZERO_MIN_SECONDS = 60
export const SCALE_TO_ZERO_MAX_SECONDS = 604_800

/** 0 and 300 mean the same, and the service may respond with either. */
export const sameScaleToZero = (a: number, b: number): boolean => scaleToZeroSeconds(a) === scaleToZeroSeconds(b)

/** `never`, `default (5m)` or a duration. */
export const formatScaleToZero = (seconds: number): string => {
  if (seconds === SCALE_TO_ZERO_NEVER) return 'never'
  if (seconds === SCALE_TO_ZERO_DEFAULT) return `default (${formatDuration(SCALE_TO_ZERO_DEFAULT_SECONDS)})`
  // The API never sends other negative numbers, but nothing rules them out.
  return seconds < 0 ? `${seconds}s` : formatDuration(seconds)
}

/** Resolves the default. Not for `never`. */
export const scaleToZeroSeconds = (seconds: number): number =>
  seconds === SCALE_TO_ZERO_DEFAULT ? SCALE_TO_ZERO_DEFAULT_SECONDS : seconds

interface SleepSettings {
  readonly size?: Size | undefined
  readonly scaleToZero?: number | undefined
}

/**
 * After how many seconds without activity a compute is suspended. Infinity: never. Large computes never are, whatever
 * their setting. `undefined`: unknown.
 */
export const sleepSeconds = ({ size, scaleToZero }: SleepSettings): number | undefined => {
  if (size !== undefined && !canScaleToZero(size)) return Number.POSITIVE_INFINITY
  if (scaleToZero === undefined) return undefined
  return scaleToZero === SCALE_TO_ZERO_NEVER ? Number.POSITIVE_INFINITY : scaleToZeroSeconds(scaleToZero)
}

/** Whether the settings keep a compute active all the time. */
export const neverSleeps = (settings: SleepSettings): boolean => sleepSeconds(settings) === Number.POSITIVE_INFINITY
