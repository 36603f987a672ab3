import { text } from '../../base/index.ts'
import { DURATION, formatDuration, parseDuration } from '../duration.ts'
import {
  formatScaleToZero,
  SCALE_TO_ZERO_DEFAULT,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SCALE_TO_ZERO_NEVER,
  sameScaleToZero,
} from '../scale-to-zero.ts'
import { canScaleToZero, type Size } from '../size.ts'
import { type ManifestPlace, oneField } from './row.ts'

const isTooLarge = (size: Size | undefined): boolean => size !== undefined && !canScaleToZero(size)

const nearestAllowed = (seconds: number): number =>
  Math.min(Math.max(seconds, SCALE_TO_ZERO_MIN_SECONDS), SCALE_TO_ZERO_MAX_SECONDS)

/** Checks the range too, because the schema's pattern cannot compare `1h90m` with a limit. */
const read = (value: unknown, place: ManifestPlace): number | undefined => {
  if (value === 'default') return SCALE_TO_ZERO_DEFAULT
  if (value === 'never') return SCALE_TO_ZERO_NEVER
  const seconds = parseDuration(String(value))
  if (seconds === undefined) return undefined
  const nearest = nearestAllowed(seconds)
  if (nearest === seconds) return seconds
  const hint = `The nearest valid duration is \`${formatDuration(nearest)}\`.`
  return place.report('E_DURATION', '`scaleToZero` must be from 1m to 7d.', hint)
}

const write = (seconds: number, { size }: { readonly size?: Size }): string | undefined => {
  if (seconds === SCALE_TO_ZERO_NEVER) return 'never'
  if (isTooLarge(size)) return undefined
  if (seconds === SCALE_TO_ZERO_DEFAULT) return 'default'
  return nearestAllowed(seconds) === seconds ? formatDuration(seconds) : undefined
}

export const SCALE_TO_ZERO = oneField('seconds', 'suspend_timeout_seconds', {
  path: 'scaleToZero',
  schema: text({
    pattern: `^(default|never|${DURATION})$`,
    description:
      'Suspends the compute after this long without activity: a duration from 1m to 7d, `default` (5m) or `never`.',
    examples: ['5m', '1h30m', 'never', 'default'],
    $comment: 'E_DURATION',
  }),
  rule: "the service's public OpenAPI: applied live, no restart is documented",
  impact: () => 'none',
  satisfied: (desired, observed) => observed !== undefined && sameScaleToZero(desired, observed),
  read,
  write,
  // On a compute that is too large to scale to zero, the default has no effect.
  isImported: (seconds, { size }) => seconds !== SCALE_TO_ZERO_DEFAULT || !isTooLarge(size),
  format: formatScaleToZero,
})
