/** Creates a branch for a test, and deletes it, through the API like any client. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { EspalierError } from '../../model/index.ts'
import type { Sandbox } from '../start-sandbox.ts'

export interface TestBranch {
  readonly id: string
  readonly name: string
  readonly connectionString: string
  delete(): Promise<void>
}

export interface BranchOrder {
  readonly name?: string
  /** A name or an id. Default: the default branch. */
  readonly parent?: string
  /** An id. Default: the only project. */
  readonly project?: string
}

const POLL_MS = 20
const PENDING: ReadonlySet<string> = new Set(['scheduling', 'running', 'cancelling'])

const operationsShape = z.object({ operations: z.array(z.object({ id: z.string() })).default([]) })
const madeShape = operationsShape.extend({
  branch: z.object({ id: z.string(), name: z.string() }),
  roles: z.array(z.object({ name: z.string() })),
  databases: z.array(z.object({ name: z.string(), owner_name: z.string() })),
})

export const testBranch = async (sandbox: Sandbox, order: BranchOrder): Promise<TestBranch> => {
  const project = order.project ?? (await onlyProject(sandbox))
  const at = `/projects/${project}`
  const body = {
    branch: {
      name: order.name ?? `test-${randomUUID()}`,
      ...(order.parent === undefined ? {} : { parent_id: await branchId(sandbox, at, order.parent) }),
    },
    endpoints: [{ type: 'read_write' }],
  }
  const made = madeShape.parse(await send(sandbox, 'POST', `${at}/branches`, body))
  await settled(sandbox, at, made.operations)
  const { id, name } = made.branch
  const database = made.databases[0]
  const query = new URLSearchParams({
    branch_id: id,
    database_name: database?.name ?? '',
    role_name: database?.owner_name ?? '',
  })
  const { uri } = z.object({ uri: z.string() }).parse(await send(sandbox, 'GET', `${at}/connection_uri?${query}`))
  return {
    id,
    name,
    connectionString: uri,
    delete: async () => {
      const { operations } = operationsShape.parse((await send(sandbox, 'DELETE', `${at}/branches/${id}`)) ?? {})
      await settled(sandbox, at, operations)
    },
  }
}

const onlyProject = async (sandbox: Sandbox): Promise<string> => {
  const { projects } = z
    .object({ projects: z.array(z.object({ id: z.string() })) })
    .parse(await send(sandbox, 'GET', '/projects'))
  const [only] = projects
  if (only !== undefined && projects.length === 1) return only.id
  throw new EspalierError(
    'E_USAGE',
    `The sandbox has ${projects.length} projects: choose one with the option \`project\`.`,
  )
}

const branchId = async (sandbox: Sandbox, at: string, wanted: string): Promise<string> => {
  const { branches } = z
    .object({ branches: z.array(z.object({ id: z.string(), name: z.string() })) })
    .parse(await send(sandbox, 'GET', `${at}/branches`))
  const found = branches.find(({ id, name }) => id === wanted || name === wanted)
  if (found !== undefined) return found.id
  throw new EspalierError('E_USAGE', `There is no branch ${wanted}.`)
}

/** Retries while the project is locked: tests may run concurrently. */
const send = async (sandbox: Sandbox, method: string, path: string, body?: object): Promise<unknown> => {
  for (;;) {
    const response = await fetch(`${sandbox.apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer: unknown = text === '' ? undefined : JSON.parse(text)
    if (response.ok) return answer
    if (response.status !== 423) {
      const { message } = z.object({ message: z.string() }).parse(answer)
      throw new EspalierError('E_SANDBOX_BRANCH', `${method} ${path}: ${message}`)
    }
    await moment(sandbox)
  }
}

const settled = async (sandbox: Sandbox, at: string, operations: readonly { readonly id: string }[]): Promise<void> => {
  const shape = z.object({
    operation: z.object({ status: z.string(), error: z.string().optional(), retry_at: z.string().optional() }),
  })
  for (const { id } of operations) {
    for (;;) {
      const { operation } = shape.parse(await send(sandbox, 'GET', `${at}/operations/${id}`))
      if (operation.status === 'finished' || operation.status === 'skipped') break
      if (!PENDING.has(operation.status) && operation.retry_at === undefined) {
        throw new EspalierError(
          'E_SANDBOX_BRANCH',
          `An operation ended as ${operation.status}: ${operation.error ?? ''}`,
        )
      }
      await moment(sandbox)
    }
  }
}

/** Advances a manual clock: operations would never finish otherwise. */
const moment = async ({ clock }: Sandbox): Promise<void> => {
  if (clock.scale === 0) await clock.advance(POLL_MS)
  await pause(POLL_MS / Math.max(1, clock.scale))
}
