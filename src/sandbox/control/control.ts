/** Controls a sandbox: its clock, faults, connections and state. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { EspalierError } from '../../base/index.ts'
import type { ComputeAddress, Computes, ConnectionInfo } from '../computes/computes.ts'
import type { FaultOrder, Faults, PendingFault } from '../faults.ts'
import type { SetLoad } from '../world/autoscaling.ts'
import { createBranch, deleteBranch } from '../world/branch-commands.ts'
import { connectionTo, defaultLogin, refreshCatalog } from '../world/catalog.ts'
import { type ComputeRecord, isOver, type OperationRecord, type WorldChange, worldChange } from '../world/records.ts'
import { ApiError } from '../world/requests.ts'
import { Tables } from '../world/tables.ts'
import type { World } from '../world/world.ts'
import type { RecordedRequest } from './recorder.ts'

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
  /** The current size in CU. Absent if the compute is not active. */
  readonly size?: number | undefined
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

export interface ControlParts {
  readonly world: World
  readonly computes: Computes
  readonly faults: Faults
  /** The latest requests, oldest first. */
  readonly recorded: RecordedRequest[]
}

export type SandboxControl = ReturnType<typeof openControl>

export const openControl = ({ world, computes, faults, recorded }: ControlParts, setLoad: SetLoad) => ({
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
  setLoad,
  connections: (): readonly ConnectionInfo[] => computes.connections(),
  /** Opens a connection for the sandbox itself. @throws {ConnectionError} as for any other client. */
  connect: (computeId: string): Promise<ConnectionInfo> => {
    const branch = world.tables.branch(world.tables.compute(computeId)?.branchId ?? '')
    return computes.connect(computeId, defaultLogin(branch))
  },
  createBranch: (options: TestBranchOptions): Promise<TestBranch> => createTestBranch(world, computes, options),
  disconnect: (connectionId: string): void => computes.disconnect(connectionId),
  faults: (): readonly PendingFault[] => faults.list(),
  addFault: (order: FaultOrder): PendingFault => faults.add(order),
  removeFault: (id: string): boolean => faults.remove(id),
  clearFaults: (): void => faults.clear(),
  /** Runs a failed operation again. @throws {ApiError} 404, 409 or 423. */
  retry: (operationId: string): OperationRecord => world.retry(operationId),
  dump: (): WorldDump => ({ version: 1, changes: [...world.tables.dump()] }),
  /** @throws {EspalierError} `E_SEED` if the dump is invalid. In this case, the state is not changed. */
  load: (dump: unknown): void => world.load(changesIn(dump)),
  requests: (): readonly RecordedRequest[] => [...recorded],
  clearRequests: (): void => void recorded.splice(0),
})

/** Loads the dump into separate tables first, so that an invalid dump does not destroy the current world. */
const changesIn = (dump: unknown): readonly WorldChange[] => {
  try {
    dumpShape.parse(dump)
    // The dump as it is, because parsing it drops what the schema does not need.
    const { changes } = dump as WorldDump
    const tables = new Tables()
    for (const change of changes) tables.apply(change)
    return changes
  } catch {
    throw new EspalierError('E_SEED', 'This is not a valid sandbox dump.', {
      hint: 'Load the response to GET /_sandbox/world.',
    })
  }
}

const reachable = async (
  compute: ComputeRecord,
  world: World,
  computes: Computes,
  connections: number,
): Promise<ReachableCompute> => {
  const { project, branches } = world.project(compute.projectId)
  const branch = branches.get(compute.branchId)
  const address = await computes.address?.(compute.id)
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
    size: compute.state === 'active' ? world.usage.sizeOf(compute) : undefined,
    connections,
    address,
    ...uris,
  }
}

// Creates a branch for a test, and can delete it after the test.

interface TestBranch {
  readonly id: string
  readonly name: string
  readonly connectionString: string
  delete(): Promise<void>
}

interface TestBranchOptions {
  readonly name?: string
  /** The name or id of a branch. Default: the default branch. */
  readonly parent?: string
  /** The id of a project. Default: the project in the sandbox, if there is only one. */
  readonly project?: string
}

const POLL_MS = 20

const createTestBranch = async (world: World, computes: Computes, options: TestBranchOptions): Promise<TestBranch> => {
  const { name = `test-${randomUUID()}`, parent, project = onlyProject(world) } = options
  const made = await finished(world, () => {
    const { branches } = world.project(project)
    const source =
      parent === undefined ? undefined : [...branches.values()].find((one) => [one.id, one.name].includes(parent))
    if (parent !== undefined && source === undefined)
      throw new EspalierError('E_USAGE', `There is no branch ${parent}.`)
    return createBranch(world, project, { name, parent_id: source?.id }, [{ type: 'read_write' }])
  })
  const { id } = made.branch
  await refreshCatalog(world, computes, id)
  const login = defaultLogin(world.branch(project, id))
  const [compute] = made.computes
  if (login === undefined || compute === undefined) throw failed(`no role of the branch ${name} can log in`)
  const { uri } = await connectionTo(compute, world.project(project).project, computes, login)
  return {
    id,
    name,
    connectionString: uri,
    delete: async () => void (await finished(world, () => deleteBranch(world, project, id))),
  }
}

const onlyProject = (world: World): string => {
  const ids = [...world.tables.projects.values()].flatMap(({ project }) =>
    project.deletedAt === undefined ? [project.id] : [],
  )
  const [only] = ids
  if (only !== undefined && ids.length === 1) return only
  if (only === undefined) {
    throw new EspalierError('E_USAGE', 'The sandbox has no project, so a branch cannot be created.', {
      hint: 'Start the sandbox from a seed that contains a project.',
    })
  }
  throw new EspalierError('E_USAGE', `The sandbox has ${ids.length} projects: choose one with the option \`project\`.`)
}

/**
 * Runs a command and waits for its operations. If the project is locked, waits until it is unlocked, because tests may
 * run concurrently.
 */
const finished = async <T extends { readonly operations: readonly OperationRecord[] } | undefined>(
  world: World,
  command: () => T,
): Promise<T> => {
  for (;;) {
    try {
      const answer = command()
      for (const operation of answer?.operations ?? []) await untilOver(world, operation)
      return answer
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status !== 423) throw failed(error.message)
      await moment(world)
    }
  }
}

const untilOver = async (world: World, { id, projectId }: OperationRecord): Promise<void> => {
  for (;;) {
    const operation = world.tables.projects.get(projectId)?.operationById.get(id)
    if (operation === undefined || operation.status === 'finished' || operation.status === 'skipped') return
    if (isOver(operation)) {
      const { action, status, error } = operation
      throw failed(`the operation ${action} ended as ${status}${error === undefined ? '' : `: ${error}`}`)
    }
    await moment(world)
  }
}

const failed = (reason: string): EspalierError =>
  new EspalierError('E_API', `The branch cannot be created or deleted: ${reason}.`)

/** Waits for a moment. A manual clock is moved forward, because otherwise the operations would never finish. */
const moment = async ({ clock }: World): Promise<void> => {
  if (clock.scale === 0) await clock.advance(POLL_MS)
  await pause(POLL_MS / Math.max(1, clock.scale))
}
