/**
 * Scale to zero as the API's `suspend_timeout_seconds`: 0 is the service's default, −1 is never, else seconds
 * (public OpenAPI of the service; the spec shows only the value 0).
 */
import { formatDuration } from './duration.ts'

export const SCALE_TO_ZERO_DEFAULT = 0
export const SCALE_TO_ZERO_NEVER = -1
/** What the default represents (the public API reference: idle after 5 minutes). */
export const SCALE_TO_ZERO_DEFAULT_SECONDS = 300
export const SCALE_TO_ZERO_MIN_SECONDS = 60
export const SCALE_TO_ZERO_MAX_SECONDS = 604_800

/** 0 and 300 mean the same to the service, which may answer either. */
export const sameScaleToZero = (a: number, b: number): boolean => scaleToZeroSeconds(a) === scaleToZeroSeconds(b)

/** `never`, `default (5m)` or a duration. */
export const formatScaleToZero = (seconds: number): string => {
  if (seconds === SCALE_TO_ZERO_NEVER) return 'never'
  if (seconds === SCALE_TO_ZERO_DEFAULT) return `default (${formatDuration(SCALE_TO_ZERO_DEFAULT_SECONDS)})`
  // The API never sends other negative numbers, but nothing rules them out.
  return seconds < 0 ? `${seconds}s` : formatDuration(seconds)
}

/** The seconds that a value represents; not for `never`. */
export const scaleToZeroSeconds = (seconds: number): number =>
  seconds === SCALE_TO_ZERO_DEFAULT ? SCALE_TO_ZERO_DEFAULT_SECONDS : seconds
