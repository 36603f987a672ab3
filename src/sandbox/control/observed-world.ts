/** Builds a sandbox world from a snapshot of live projects, in which a plan can be rehearsed. */
import { attributesToWire, type Observed, type ObservedCompute, SCALE_TO_ZERO_DEFAULT } from '../../model/index.ts'
import type { ComputeRecord, ComputeState, WorldRecord } from '../world/records.ts'
import type { WorldDump } from './control.ts'

/** Values that snapshots may not contain. Plans do not depend on them. */
const REGION = 'aws-eu-central-1'
const SMALLEST = { min: 0.25, max: 0.25 }

/** @param now the time in the sandbox that loads the world, in milliseconds since the epoch. */
export const worldOf = ({ projects }: Observed, now: number): WorldDump => {
  const records: WorldRecord[] = projects.flatMap((project): readonly WorldRecord[] => [
    {
      kind: 'project',
      id: project.id,
      name: project.name ?? project.id,
      regionId: REGION,
      plan: 'paid',
      defaults: { ...SMALLEST, suspendTimeoutSeconds: SCALE_TO_ZERO_DEFAULT },
      createdAt: now,
    },
    ...project.branches.map(
      ({ id, name, isDefault, isProtected, parentId }): WorldRecord => ({
        kind: 'branch',
        id,
        projectId: project.id,
        name,
        isDefault,
        isProtected,
        parentId,
        state: 'ready',
        createdAt: now,
        updatedAt: now,
      }),
    ),
    ...project.computes.map((compute) => toRecord(compute, project.id, now)),
  ])
  return { version: 1, changes: records.map((put) => ({ put })) }
}

const toRecord = (compute: ObservedCompute, projectId: string, now: number): ComputeRecord => {
  const { name, size = SMALLEST, scaleToZero, disabled, poolerEnabled, passwordlessAccess } = compute.attributes
  return {
    kind: 'compute',
    id: compute.id,
    projectId,
    branchId: compute.branchId,
    type: compute.type,
    name,
    ...size,
    suspendTimeoutSeconds: scaleToZero ?? SCALE_TO_ZERO_DEFAULT,
    settings: compute.settings ??
      attributesToWire(compute.attributes, ['postgresSettings', 'postgresPreload']).settings ?? {
        pg_settings: {},
      },
    disabled: disabled ?? false,
    poolerEnabled: poolerEnabled ?? false,
    passwordlessAccess: passwordlessAccess ?? false,
    state: stateOf(compute),
    createdAt: now,
    updatedAt: now,
    lastActive: now,
  }
}

/** The state that the compute has when the operations that are running in the live project have finished. */
const stateOf = ({ state, pendingState }: ObservedCompute): ComputeState =>
  (pendingState ?? state) === 'idle' ? 'idle' : 'active'
