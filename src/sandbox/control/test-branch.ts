/** Creates a branch for a test, and can delete it after the test. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { EspalierError } from '../../model/index.ts'
import type { Computes } from '../computes/computes.ts'
import { ApiError } from '../world/api-error.ts'
import { createBranch, deleteBranch } from '../world/branch-commands.ts'
import { refreshCatalog } from '../world/catalog.ts'
import { connectionTo, defaultLogin } from '../world/connection.ts'
import { isOver, type OperationRecord } from '../world/records.ts'
import type { World } from '../world/world.ts'

export interface TestBranch {
  readonly id: string
  readonly name: string
  readonly connectionString: string
  delete(): Promise<void>
}

export interface TestBranchOptions {
  readonly name?: string
  /** The name or id of a branch. Default: the default branch. */
  readonly parent?: string
  /** The id of a project. Default: the project in the sandbox, if there is only one. */
  readonly project?: string
}

const POLL_MS = 20

export const createTestBranch = async (
  world: World,
  computes: Computes,
  options: TestBranchOptions,
): Promise<TestBranch> => {
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
  new EspalierError('E_SANDBOX_BRANCH', `The branch cannot be created or deleted: ${reason}.`)

/** Waits for a moment. A manual clock is moved forward, because otherwise the operations would never finish. */
const moment = async ({ clock }: World): Promise<void> => {
  if (clock.scale === 0) await clock.advance(POLL_MS)
  await pause(POLL_MS / Math.max(1, clock.scale))
}
