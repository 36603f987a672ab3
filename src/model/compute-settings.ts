/** The settings of a compute after a plan is applied. Cost, limits and policies are based on them. */
import { defined } from '../base/index.ts'
import type { ComputeAttributes } from './attributes/index.ts'
import type { ObservedCompute } from './observed.ts'
import type { AttributeChange, Change } from './plan.ts'
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

/** The settings that a change sets. */
export const settingsSetBy = (attributes: readonly AttributeChange[]): Partial<ComputeSettings> => {
  const after = (path: string) => attributes.find((one) => one.path === path)?.after
  return defined({
    size: after('size') as Size | undefined,
    scaleToZero: after('scaleToZero') as number | undefined,
    disabled: after('disabled') as boolean | undefined,
  })
}

/**
 * The compute after a change, including live values and the project's defaults. `undefined` if the change deletes it.
 *
 * @param live the live compute, if it exists
 * @param defaults the project's defaults for new computes
 */
export const settingsAfter = (
  { kind, attributes }: Pick<Change, 'kind' | 'attributes'>,
  live: ObservedCompute | undefined,
  defaults: ComputeAttributes = {},
): ComputeSettings | undefined => {
  if (kind === 'delete') return undefined
  const isNew = kind === 'create' || kind === 'replace' || live === undefined
  return { ...settingsOfCompute(isNew ? defaults : live.attributes), ...settingsSetBy(attributes) }
}
