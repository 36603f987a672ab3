/** Control over a sandbox: its clock, faults, connections and state. */
import type { SandboxClock } from '../clock/clock.ts'
import type { ComputeAddress, ConnectionInfo } from '../computes/computes.ts'
import type { FaultOrder } from '../faults/fault.ts'
import type { WaitingFault } from '../faults/faults.ts'
import type { WorldChange } from '../world/records.ts'
import type { RecordedRequest } from './recorder.ts'

/** A compute and how to connect to it. */
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
  /** Absent if the compute is simulated. */
  readonly address?: ComputeAddress
  /** Connection strings; absent if the compute is simulated. */
  readonly uri?: string
  readonly pooledUri?: string
}

/** The complete state of a sandbox, except for data in Postgres. */
export interface WorldDump {
  readonly version: 1
  readonly changes: readonly WorldChange[]
}

export interface SandboxControl {
  readonly clock: SandboxClock
  readonly computesKind: 'postgres' | 'simulated'
  /** For display: the kind of computes, and where clients connect. */
  readonly computesDescription: string
  computes(): Promise<readonly ReachableCompute[]>
  connections(): readonly ConnectionInfo[]
  /** Opens a connection that the sandbox holds. @throws {ConnectionRefusal} as for any other client. */
  connect(computeId: string): Promise<ConnectionInfo>
  disconnect(connectionId: string): void
  faults(): readonly WaitingFault[]
  addFault(order: FaultOrder): WaitingFault
  removeFault(id: string): boolean
  clearFaults(): void
  dump(): WorldDump
  /** @throws {EspalierError} `E_SANDBOX_WORLD` if the dump is invalid; the state is unchanged then. */
  load(dump: WorldDump): void
  requests(): readonly RecordedRequest[]
  clearRequests(): void
}
