/** What a compute is set to once a plan's requests are sent: what cost, limits and policies are about. */
import type { ComputeAttributes, WireAttributes } from './attributes/index.ts'
import type { ObservedCompute } from './observed.ts'
import type { Change, Step } from './plan.ts'
import type { Size } from './size.ts'

/** Absent is unknown. */
export interface ComputeSettings {
  readonly size?: Size
  /** Seconds, as the API has them. */
  readonly scaleToZero?: number
  readonly disabled: boolean
}

export const settingsOfCompute = ({ size, scaleToZero, disabled = false }: ComputeAttributes): ComputeSettings => ({
  ...(size === undefined ? {} : { size }),
  ...(scaleToZero === undefined ? {} : { scaleToZero }),
  disabled,
})

/** All that the steps of a change ask for. */
export const requestOf = (steps: readonly Step[]): WireAttributes =>
  // Nearly every change has one step, and a fleet has thousands of changes.
  steps.length <= 1
    ? (steps[0]?.request.body?.endpoint ?? {})
    : (Object.assign({}, ...steps.map(({ request }) => request.body?.endpoint ?? {})) as WireAttributes)

/**
 * The compute after a change, live values and the project's defaults merged in; `undefined` once it is deleted.
 *
 * @param steps those of the change
 * @param live the compute as it is, if there is one
 * @param defaults of computes that are created in the project
 */
export const settingsAfter = (
  change: Change,
  steps: readonly Step[],
  live: ObservedCompute | undefined,
  defaults: ComputeAttributes = {},
): ComputeSettings | undefined => {
  if (change.kind === 'delete') return undefined
  const isNew = change.kind === 'create' || change.kind === 'replace' || live === undefined
  const before = isNew ? defaults : live.attributes
  const body = requestOf(steps)
  const min = body.autoscaling_limit_min_cu ?? before.size?.min
  const max = body.autoscaling_limit_max_cu ?? before.size?.max
  const scaleToZero = body.suspend_timeout_seconds ?? before.scaleToZero
  return {
    ...(min === undefined || max === undefined ? {} : { size: { min, max } }),
    ...(scaleToZero === undefined ? {} : { scaleToZero }),
    disabled: body.disabled ?? before.disabled ?? false,
  }
}
