/** Which live computes can become what is declared at all. */
import { type ComputeAttributes, differingKeys, SCALE_TO_ZERO_NEVER, type SizeTable } from '../model/index.ts'

/** Above 16 CU a compute never scales to zero, so neither a size nor a time may be changed to where both would meet. */
export const canBecome = (desired: ComputeAttributes, live: ComputeAttributes, table: SizeTable): boolean => {
  const changed = differingKeys(desired, live)
  if (!changed.includes('size') && !changed.includes('scaleToZero')) return true
  const size = desired.size ?? live.size
  const scaleToZero = desired.scaleToZero ?? live.scaleToZero
  return size === undefined || size.max <= table.scaleToZeroMaxCu || scaleToZero === SCALE_TO_ZERO_NEVER
}
