/** Translates the record of a compute into a spec for the compute backend. */
import { maxConnections } from '../../model/index.ts'
import type { ComputeSpec } from '../computes/computes.ts'
import { catalogOf } from './catalog.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import type { Tables } from './tables.ts'

const GIB = 1024 ** 3
/** The disk for temporary files has 15 GiB for each CU of the maximum size, but at least 20 GiB (docs/sandbox.md). */
const TEMP_DISK_LEAST_GIB = 20
const TEMP_DISK_GIB_PER_CU = 15

export interface SpecRules {
  /** The size of the temporary disk is multiplied by this factor, so that a test can fill the disk. */
  readonly tempDiskScale: number
  /** The major version for projects that do not specify one. */
  readonly pgVersion: () => number
}

/** The libraries that the service loads by default. */
export const DEFAULT_LIBRARIES: readonly string[] = ['pg_stat_statements']

const librariesOf = ({ settings }: ComputeRecord, project: ProjectRecord | undefined): readonly string[] => {
  const requested = settings.preload_libraries ?? project?.settings?.preload_libraries
  return [
    ...new Set([
      ...(requested?.use_defaults === true ? DEFAULT_LIBRARIES : []),
      ...(requested?.enabled_libraries ?? []),
    ]),
  ]
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
