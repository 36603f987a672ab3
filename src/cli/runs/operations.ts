import { createReadApi, type Operation, type ReadApi, streamOperations } from '../../api/index.ts'
import { EXIT, type ExitCode, plainJson } from '../../model/index.ts'
import { consoleStatus, counted, operationLine, operationsHead, plainText, time } from '../../report/index.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { checkNumber, durationMs } from '../flags.ts'
import type { Io } from '../io.ts'
import { oneProject } from '../project.ts'
import { print, styleOf } from '../terminal.ts'
import { waitForOperation } from '../wait-for-operation.ts'
import { waitingLine } from '../waiting-line.ts'
import { untilInterrupted } from '../watch.ts'

interface CommonFlags extends ApiFlags {
  readonly project?: string | undefined
  readonly format: string
  readonly noColor?: boolean | undefined
}

export interface ListFlags extends CommonFlags {
  readonly branch?: string | undefined
  readonly compute?: string | undefined
  readonly action?: string | undefined
  readonly status?: string | undefined
  readonly since?: string | undefined
  readonly limit: number
  readonly all?: boolean | undefined
}

export interface WatchFlags extends ListFlags {
  readonly interval: string
}

export interface GetFlags extends CommonFlags {
  readonly ref: string
}

export interface WaitFlags extends CommonFlags {
  readonly refs: readonly string[]
  readonly timeout: string
}

/** Two operations are told apart by id; the newest hundred hold all that a few seconds can bring. */
const WATCHED = 100

export const runOperationsList = async (flags: ListFlags, io: Io): Promise<ExitCode> => {
  checkNumber('limit', flags.limit, 1)
  return withProject(flags, io, async (api, project) => {
    const printer = await printerOf(api, project, flags, io)
    const isWanted = filterOf(flags, printer.branches)
    const oldest = flags.since === undefined ? 0 : io.clock.now() - durationMs('since', flags.since)
    let shown = 0
    for await (const operation of streamOperations(api, project)) {
      // Newest first, so nothing younger follows.
      if (Date.parse(operation.createdAt) < oldest) break
      if (!isWanted(operation)) continue
      printer.print(operation)
      shown += 1
      if (flags.all !== true && shown >= flags.limit) break
    }
    return EXIT.ok
  })
}

export const runOperationsWatch = async (flags: WatchFlags, io: Io): Promise<ExitCode> => {
  const everyMs = durationMs('interval', flags.interval)
  return withProject(flags, io, async (api, project) => {
    const printer = await printerOf(api, project, flags, io)
    const isWanted = filterOf(flags, printer.branches)
    const known = new Map<string, string>()
    await untilInterrupted(
      everyMs,
      async () => {
        const { operations } = await api.listOperations(project, { limit: WATCHED })
        for (const operation of [...operations].reverse()) {
          const before = known.get(operation.id)
          const now = `${operation.status} ${operation.failuresCount}`
          if (before !== now && isWanted(operation)) printer.print(operation)
          known.set(operation.id, now)
        }
      },
      io,
    )
    return EXIT.ok
  })
}

export const runOperationsGet = async (flags: GetFlags, io: Io): Promise<ExitCode> =>
  withProject(flags, io, async (api, project) => {
    const printer = await printerOf(api, project, flags, io)
    printer.print(await api.getOperation(project, flags.ref))
    return EXIT.ok
  })

/** Until each has ended; 1 where one ended badly, or the time is over. */
export const runOperationsWait = async (flags: WaitFlags, io: Io): Promise<ExitCode> => {
  const timeoutMs = durationMs('timeout', flags.timeout)
  return withProject(flags, io, async (api, project) => {
    const printer = await printerOf(api, project, flags, io)
    const deadline = io.clock.now() + timeoutMs
    const startedAt = io.clock.now()
    let isWell = true
    for (const id of flags.refs) {
      let latest: Operation | undefined
      const done = waitingLine(() => waitText(latest, printer.branches, io.clock.now() - startedAt), io)
      try {
        const onLook = (operation: Operation): void => {
          latest = operation
        }
        const { operation, end } = await waitForOperation({ api, clock: io.clock, project, id, deadline, onLook })
        printer.print(operation)
        isWell &&= end === 'good'
      } finally {
        done()
      }
    }
    return isWell ? EXIT.ok : EXIT.error
  })
}

const waitText = (
  operation: Operation | undefined,
  branches: ReadonlyMap<string, string>,
  elapsedMs: number,
): string => {
  if (operation === undefined) return ''
  const { action, status, failuresCount, branchId = '' } = operation
  const failures = failuresCount === 0 ? '' : `, ${counted(failuresCount, 'failure')}`
  const retry = status === 'failed' ? ', may be retried' : ''
  const where = branches.get(branchId) ?? branchId
  return plainText(`Waiting ${time(elapsedMs)}: ${action} on ${where} ${status}${failures}${retry}`)
}

interface Printer {
  readonly branches: ReadonlyMap<string, string>
  print(operation: Operation): void
}

/** JSON is an object a line, so that any number can be read as they come. */
const printerOf = async (api: ReadApi, project: string, flags: CommonFlags, io: Io): Promise<Printer> => {
  const branches = new Map((await api.listBranches(project)).map(({ id, name }) => [id, name]))
  const style = styleOf(io.stdout, flags, io.env)
  if (flags.format === 'terminal') print(operationsHead(style), io.stdout)
  return {
    branches,
    print: (operation) => {
      if (flags.format === 'json') print(plainJson(operation), io.stdout)
      else print(operationLine(operation, branches, style), io.stdout)
    },
  }
}

/** Done here, since the API has no filters (its public OpenAPI). */
const filterOf = (
  { branch, compute, action, status }: ListFlags,
  branches: ReadonlyMap<string, string>,
): ((operation: Operation) => boolean) => {
  const word = status?.toLowerCase()
  return (operation) =>
    (branch === undefined || operation.branchId === branch || branches.get(operation.branchId ?? '') === branch) &&
    (compute === undefined || operation.endpointId === compute) &&
    (action === undefined || operation.action === action) &&
    (word === undefined || operation.status === word || consoleStatus(operation.status).toLowerCase() === word)
}

const withProject = async (
  flags: CommonFlags,
  io: Io,
  use: (api: ReadApi, project: string) => Promise<ExitCode>,
): Promise<ExitCode> => {
  const project = await oneProject(flags.project, io)
  const connection = await connect(flags, io)
  const api = createReadApi(connection.options)
  try {
    return await use(api, project)
  } finally {
    await api.close()
    await connection.close()
  }
}
