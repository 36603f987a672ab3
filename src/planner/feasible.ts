/** Whether a live compute can be changed to match a declaration. */
import { type ComputeAttributes, differingKeys, SCALE_TO_ZERO_NEVER, type SizeTable } from '../model/index.ts'

/** The service does not allow a compute above 16 CU to scale to zero, so no change may lead to one. */
export const canBecome = (desired: ComputeAttributes, live: ComputeAttributes, table: SizeTable): boolean => {
  const changed = differingKeys(desired, live)
  if (!changed.includes('size') && !changed.includes('scaleToZero')) return true
  const size = desired.size ?? live.size
  const scaleToZero = desired.scaleToZero ?? live.scaleToZero
  return size === undefined || size.max <= table.scaleToZeroMaxCu || scaleToZero === SCALE_TO_ZERO_NEVER
}
