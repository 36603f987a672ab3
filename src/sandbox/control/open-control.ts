import { EspalierError } from '../../model/index.ts'
import type { Computes, Login } from '../computes/computes.ts'
import type { Faults } from '../faults/faults.ts'
import { connectionTo, defaultLogin } from '../world/connection.ts'
import type { ComputeRecord } from '../world/records.ts'
import { Tables } from '../world/tables.ts'
import type { World } from '../world/world.ts'
import type { ReachableCompute, SandboxControl, WorldDump } from './control.ts'
import type { Recorder } from './recorder.ts'

export interface ControlParts {
  readonly world: World
  readonly computes: Computes
  readonly faults: Faults
  readonly recorder: Recorder
}

export const openControl = ({ world, computes, faults, recorder }: ControlParts): SandboxControl => ({
  clock: world.clock,
  computesKind: computes.kind,
  computesDescription: computes.description,
  computes: async () => {
    const open = new Map<string, number>()
    for (const { computeId, closedAt } of computes.connections()) {
      if (closedAt === undefined) open.set(computeId, (open.get(computeId) ?? 0) + 1)
    }
    const all = [...world.tables.projects.values()]
      .filter(({ project }) => project.deletedAt === undefined)
      .flatMap((tables) => [...tables.computes.values()])
    return Promise.all(all.map((compute) => reachable(compute, world, computes, open.get(compute.id) ?? 0)))
  },
  connections: () => computes.connections(),
  connect: (computeId) => computes.connect(computeId, loginTo(world, computeId)),
  disconnect: (connectionId) => computes.disconnect(connectionId),
  faults: () => faults.list(),
  addFault: (order) => faults.add(order),
  removeFault: (id) => faults.remove(id),
  clearFaults: () => faults.clear(),
  dump: () => ({ version: 1, changes: [...world.tables.dump()] }),
  load: (dump) => {
    checkDump(dump)
    world.load(dump.changes)
  },
  requests: () => recorder.list(),
  clearRequests: () => recorder.clear(),
})

const loginTo = (world: World, computeId: string): Login | undefined =>
  defaultLogin(world.tables.branch(world.tables.compute(computeId)?.branchId ?? ''))

/** Tries the load on separate tables: a failure must not destroy the current world. */
const checkDump = (dump: WorldDump): void => {
  try {
    const tables = new Tables()
    for (const change of dump.changes) tables.apply(change)
    if (dump.version === 1) return
  } catch {
    // Reported below.
  }
  throw new EspalierError('E_SANDBOX_WORLD', 'This is not a dump of a sandbox.', {
    hint: 'Load a response of GET /_sandbox/world.',
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
  const uri =
    address === undefined || login === undefined ? undefined : await connectionTo(compute, project, computes, login)
  return {
    id: compute.id,
    projectId: compute.projectId,
    projectName: project.name,
    branchId: compute.branchId,
    branchName: branch?.name ?? compute.branchId,
    type: compute.type,
    ...(compute.name === undefined ? {} : { name: compute.name }),
    state: compute.state,
    connections,
    ...(address === undefined ? {} : { address }),
    ...(uri === undefined ? {} : uri),
  }
}
