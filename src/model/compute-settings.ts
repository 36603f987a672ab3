/** The settings of a compute after a plan is applied. Cost, limits and policies are based on them. */
import type { ComputeAttributes, WireAttributes } from './attributes/index.ts'
import type { ObservedCompute } from './observed.ts'
import type { Change, Step } from './plan.ts'
import type { Size } from './size.ts'

/** `undefined` is unknown. */
export interface ComputeSettings {
  readonly size: Size | undefined
  /** Seconds, as in the API: 0 is the default, -1 is never. */
  readonly scaleToZero: number | undefined
  readonly disabled: boolean
}

export const settingsOfCompute = ({ size, scaleToZero, disabled = false }: ComputeAttributes): ComputeSettings => ({
  size,
  scaleToZero,
  disabled,
})

/** The combined request fields of a change's steps. */
export const requestOf = (steps: readonly Pick<Step, 'request'>[]): WireAttributes =>
  // Fast path: nearly every change has one step, and a fleet has thousands of changes.
  steps.length <= 1
    ? (steps[0]?.request.body?.endpoint ?? {})
    : (Object.assign({}, ...steps.map(({ request }) => request.body?.endpoint ?? {})) as WireAttributes)

/**
 * The compute after a change, including live values and the project's defaults. `undefined` if the change deletes it.
 *
 * @param steps the steps of the change
 * @param live the live compute, if it exists
 * @param defaults the project's defaults for new computes
 */
export const settingsAfter = (
  change: Pick<Change, 'kind'>,
  steps: readonly Pick<Step, 'request'>[],
  live: ObservedCompute | undefined,
  defaults: ComputeAttributes = {},
): ComputeSettings | undefined => {
  if (change.kind === 'delete') return undefined
  const isNew = change.kind === 'create' || change.kind === 'replace' || live === undefined
  const before = isNew ? defaults : live.attributes
  const body = requestOf(steps)
  const min = body.autoscaling_limit_min_cu ?? before.size?.min
  const max = body.autoscaling_limit_max_cu ?? before.size?.max
  return {
    size: min === undefined || max === undefined ? undefined : { min, max },
    scaleToZero: body.suspend_timeout_seconds ?? before.scaleToZero,
    disabled: body.disabled ?? before.disabled ?? false,
  }
}
