/** What only the owner of a sandbox may do: move its time, inject faults, inspect it. */
import type { SandboxClock } from '../clock/clock.ts'
import type { ComputeAddress, ConnectionInfo } from '../computes/computes.ts'
import type { FaultOrder } from '../faults/fault.ts'
import type { WaitingFault } from '../faults/faults.ts'
import type { WorldChange } from '../world/records.ts'
import type { RecordedRequest } from './recorder.ts'

/** A compute with the way to it. */
export interface ReachableCompute {
  readonly id: string
  readonly projectId: string
  readonly projectName: string
  readonly branchId: string
  readonly branchName: string
  readonly type: 'read_write' | 'read_only'
  readonly name?: string
  readonly state: string
  readonly connections: number
  /** Absent if no Postgres is behind it. */
  readonly address?: ComputeAddress
  /** Connection strings; absent if no Postgres is behind it. */
  readonly uri?: string
  readonly pooledUri?: string
}

/** Everything in a world, as `load` takes it. */
export interface WorldDump {
  readonly version: 1
  readonly changes: readonly WorldChange[]
}

export interface SandboxControl {
  readonly clock: SandboxClock
  readonly computesKind: 'postgres' | 'simulated'
  /** For a person: what is behind the computes, and where clients find them. */
  readonly computesDescription: string
  computes(): Promise<readonly ReachableCompute[]>
  connections(): readonly ConnectionInfo[]
  /**
   * A connection that the sandbox holds.
   *
   * @throws {ConnectionRefusal} as any client would see it.
   */
  connect(computeId: string): Promise<ConnectionInfo>
  disconnect(connectionId: string): void
  faults(): readonly WaitingFault[]
  addFault(order: FaultOrder): WaitingFault
  removeFault(id: string): boolean
  clearFaults(): void
  dump(): WorldDump
  /** Replaces this world with a dumped one. Data in Postgres is not part of it. */
  load(dump: WorldDump): void
  requests(): readonly RecordedRequest[]
  clearRequests(): void
}
