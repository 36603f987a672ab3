/** A compute's record as the compute backend takes it. */
import { maxConnections } from '../../model/index.ts'
import type { ComputeSpec } from '../computes/computes.ts'
import { catalogOf } from './catalog.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import type { Tables } from './tables.ts'

const GIB = 1024 ** 3
/** Local temporary disk: the greater of 20 GiB and 15 GiB for each CU of the maximum size (docs/control-api.md). */
const TEMP_DISK_LEAST_GIB = 20
const TEMP_DISK_GIB_PER_CU = 15

export interface SpecRules {
  /** Shrinks the disk for temporary files, so that a test can fill it. */
  readonly tempDiskScale: number
  /** Of a project that names none. */
  readonly pgVersion: () => number
}

/** Those that the service loads unless a client says otherwise. */
export const DEFAULT_LIBRARIES: readonly string[] = ['pg_stat_statements']

const librariesOf = ({ settings }: ComputeRecord, project: ProjectRecord | undefined): readonly string[] => {
  const asked = settings.preload_libraries ?? project?.settings?.preload_libraries
  return [...new Set([...(asked?.use_defaults === true ? DEFAULT_LIBRARIES : []), ...(asked?.enabled_libraries ?? [])])]
}

export const specOf = (compute: ComputeRecord, tables: Tables, rules: SpecRules): ComputeSpec => {
  const { project, branches } = tables.projects.get(compute.projectId) ?? {}
  const branch = branches?.get(compute.branchId)
  return {
    id: compute.id,
    branchId: compute.branchId,
    type: compute.type,
    maxConnections: maxConnections(compute),
    tempDiskBytes: Math.max(TEMP_DISK_LEAST_GIB, TEMP_DISK_GIB_PER_CU * compute.max) * GIB * rules.tempDiskScale,
    settings: compute.settings.pg_settings ?? {},
    libraries: librariesOf(compute, project),
    pgVersion: project?.pgVersion ?? rules.pgVersion(),
    isLogical: project?.settings?.enable_logical_replication === true,
    catalog: catalogOf(branch ?? {}),
    changes: branch?.changes ?? [],
  }
}
