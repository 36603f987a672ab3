/** A compute's record as what stands behind it takes it. */
import { maxConnections } from '../../model/index.ts'
import type { ComputeSpec } from '../computes/computes.ts'
import type { ComputeRecord } from './records.ts'

const GIB = 1024 ** 3
/** Local temporary disk: the greater of 20 GiB and 15 GiB for each CU of the maximum size (spec 8). */
const TEMP_DISK_LEAST_GIB = 20
const TEMP_DISK_GIB_PER_CU = 15

/** @param tempDiskScale shrinks the disk for temporary files, so that a test can fill it. */
export const specOf = (compute: ComputeRecord, tempDiskScale: number): ComputeSpec => ({
  id: compute.id,
  branchId: compute.branchId,
  type: compute.type,
  maxConnections: maxConnections(compute),
  tempDiskBytes: Math.max(TEMP_DISK_LEAST_GIB, TEMP_DISK_GIB_PER_CU * compute.max) * GIB * tempDiskScale,
  settings: compute.settings.pg_settings ?? {},
  libraries: compute.settings.preload_libraries?.enabled_libraries ?? [],
})
