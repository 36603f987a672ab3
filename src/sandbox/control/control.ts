/** Controls a sandbox: its clock, faults, connections and state. */
import { z } from 'zod'
import { EspalierError } from '../../model/index.ts'
import type { ComputeAddress, Computes, ConnectionInfo } from '../computes/computes.ts'
import type { FaultOrder } from '../faults/fault.ts'
import type { Faults, PendingFault } from '../faults/faults.ts'
import { connectionTo, defaultLogin } from '../world/connection.ts'
import { type ComputeRecord, type WorldChange, worldChange } from '../world/records.ts'
import { Tables } from '../world/tables.ts'
import type { World } from '../world/world.ts'
import type { RecordedRequest, Recorder } from './recorder.ts'
import { createTestBranch, type TestBranch, type TestBranchOptions } from './test-branch.ts'

/** A compute and how to connect to it. */
export interface ReachableCompute {
  readonly id: string
  readonly projectId: string
  readonly projectName: string
  readonly branchId: string
  readonly branchName: string
  readonly type: 'read_write' | 'read_only'
  readonly name?: string | undefined
  readonly state: string
  readonly connections: number
  /** Absent if the compute is simulated. */
  readonly address?: ComputeAddress | undefined
  /** The connection strings. Absent if the compute is simulated. */
  readonly uri?: string
  readonly pooledUri?: string
}

/** The complete state of a sandbox, except for data in Postgres. */
export interface WorldDump {
  readonly version: 1
  readonly changes: readonly WorldChange[]
}

const dumpShape = z.strictObject({ version: z.literal(1), changes: z.array(worldChange) })

/** Checks a dump that a client sent, because it may contain anything. */
export const isWorldDump = (value: unknown): value is WorldDump => dumpShape.safeParse(value).success

export interface ControlParts {
  readonly world: World
  readonly computes: Computes
  readonly faults: Faults
  readonly recorder: Recorder
}

export type SandboxControl = ReturnType<typeof openControl>

export const openControl = ({ world, computes, faults, recorder }: ControlParts) => ({
  clock: world.clock,
  computesKind: computes.kind,
  /** A text for the user, with the kind of computes and where clients connect. */
  computesDescription: computes.description,
  computes: async (): Promise<readonly ReachableCompute[]> => {
    const open = new Map<string, number>()
    for (const { computeId, closedAt } of computes.connections()) {
      if (closedAt === undefined) open.set(computeId, (open.get(computeId) ?? 0) + 1)
    }
    const all = [...world.tables.projects.values()]
      .filter(({ project }) => project.deletedAt === undefined)
      .flatMap((tables) => [...tables.computes.values()])
    return Promise.all(all.map((compute) => reachable(compute, world, computes, open.get(compute.id) ?? 0)))
  },
  connections: (): readonly ConnectionInfo[] => computes.connections(),
  /** Opens a connection for the sandbox itself. @throws {ConnectionError} as for any other client. */
  connect: (computeId: string): Promise<ConnectionInfo> => {
    const branch = world.tables.branch(world.tables.compute(computeId)?.branchId ?? '')
    return computes.connect(computeId, defaultLogin(branch))
  },
  /** Creates a branch for a test, with its own compute. */
  createBranch: (options: TestBranchOptions): Promise<TestBranch> => createTestBranch(world, computes, options),
  disconnect: (connectionId: string): void => computes.disconnect(connectionId),
  faults: (): readonly PendingFault[] => faults.list(),
  addFault: (order: FaultOrder): PendingFault => faults.add(order),
  removeFault: (id: string): boolean => faults.remove(id),
  clearFaults: (): void => faults.clear(),
  dump: (): WorldDump => ({ version: 1, changes: [...world.tables.dump()] }),
  /** @throws {EspalierError} `E_SANDBOX_WORLD` if the dump is invalid. In this case, the state is not changed. */
  load: (dump: WorldDump): void => {
    checkDump(dump)
    world.load(dump.changes)
  },
  requests: (): readonly RecordedRequest[] => recorder.list(),
  clearRequests: (): void => recorder.clear(),
})

/** Loads the dump into separate tables, so that an invalid dump does not destroy the current world. */
const checkDump = (dump: WorldDump): void => {
  try {
    const tables = new Tables()
    for (const change of dump.changes) tables.apply(change)
    if (dump.version === 1) return
  } catch {
    // The error is thrown below.
  }
  throw new EspalierError('E_SANDBOX_WORLD', 'This is not a valid sandbox dump.', {
    hint: 'Load the response to GET /_sandbox/world.',
  })
}

const reachable = async (
  compute: ComputeRecord,
  world: World,
  computes: Computes,
  connections: number,
): Promise<ReachableCompute> => {
  const address = await computes.address(compute.id)
  const { project, branches } = world.project(compute.projectId)
  const branch = branches.get(compute.branchId)
  const login = defaultLogin(branch)
  const uris =
    address === undefined || login === undefined ? undefined : await connectionTo(compute, project, computes, login)
  return {
    id: compute.id,
    projectId: compute.projectId,
    projectName: project.name,
    branchId: compute.branchId,
    branchName: branch?.name ?? compute.branchId,
    type: compute.type,
    name: compute.name,
    state: compute.state,
    connections,
    address,
    ...uris,
  }
}
