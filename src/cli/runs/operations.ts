import { type Operation, type ReadApi, streamOperations } from '../../api/index.ts'
import { EXIT, type ExitCode, plainJson } from '../../model/index.ts'
import { consoleStatus, counted, operationsTable, plainText, time } from '../../report/index.ts'
import { waitingLine } from '../bottom-lines.ts'
import type { CommonFlags, GetFlags, ListFlags, WaitFlags, WatchFlags } from '../commands/operations.ts'
import { withReadApi } from '../connect.ts'
import { durationMs } from '../flags.ts'
import type { Io } from '../io.ts'
import { oneProject } from '../live-projects.ts'
import { canRedraw, print, tableStyle } from '../terminal.ts'
import { waitForOperation } from '../wait-for-operation.ts'
import { untilInterrupted, watchScreen } from '../watch.ts'

/** Enough for everything that happens between two refreshes. */
const WATCHED = 100

/** Column widths are computed from the first rows. */
const MEASURED = 100

export const runOperationsList = async (flags: ListFlags, io: Io): Promise<ExitCode> =>
  withProject(flags, io, async (api, project) => {
    const branches = await branchNames(api, project)
    const isWanted = filterOf(flags, branches)
    const printer = printerOf(branches, flags, io)
    const oldest = flags.since === undefined ? 0 : io.clock.now() - durationMs('since', flags.since)
    let shown = 0
    for await (const operation of streamOperations(api, project)) {
      // Newest first, so the remaining operations are older too.
      if (Date.parse(operation.createdAt) < oldest) break
      if (!isWanted(operation)) continue
      printer.print(operation)
      shown += 1
      if (flags.all !== true && shown >= flags.limit) break
    }
    if (shown > 0 || !isTable(flags)) printer.end()
    else print('No operations match.', io.stderr)
    return EXIT.ok
  })

export const runOperationsWatch = async (flags: WatchFlags, io: Io): Promise<ExitCode> => {
  const everyMs = durationMs('interval', flags.interval)
  return withProject(flags, io, async (api, project) => {
    const branches = await branchNames(api, project)
    const isWanted = filterOf(flags, branches)
    const read = async (): Promise<readonly Operation[]> =>
      (await api.listOperations(project, { limit: WATCHED })).operations.filter(isWanted)
    if (isTable(flags) && canRedraw(io.stdout, io.env)) {
      const draw = (operations: readonly Operation[]): string => tableText(operations, branches, flags, io)
      await watchScreen({ title: `espalier operations, every ${flags.interval}.`, everyMs, read, draw }, io)
    } else await printChanges(everyMs, read, printerOf(branches, flags, io), io)
    return EXIT.ok
  })
}

/** Prints a line for each operation that is new or has changed. */
const printChanges = async (
  everyMs: number,
  read: () => Promise<readonly Operation[]>,
  printer: Printer,
  io: Io,
): Promise<void> => {
  const known = new Map<string, string>()
  await untilInterrupted(
    everyMs,
    async () => {
      for (const operation of (await read()).toReversed()) {
        const now = `${operation.status} ${operation.failuresCount}`
        if (known.get(operation.id) !== now) printer.print(operation)
        known.set(operation.id, now)
      }
      printer.end()
    },
    io,
  )
}

export const runOperationsGet = async (flags: GetFlags, io: Io): Promise<ExitCode> =>
  withProject(flags, io, async (api, project) => {
    const operation = await api.getOperation(project, flags.ref)
    const printer = printerOf(await branchNames(api, project), flags, io)
    printer.print(operation)
    printer.end()
    return EXIT.ok
  })

/** Waits until each operation has ended. The exit code is 1 if one failed, or at the timeout. */
export const runOperationsWait = async (flags: WaitFlags, io: Io): Promise<ExitCode> => {
  const timeoutMs = durationMs('timeout', flags.timeout)
  return withProject(flags, io, async (api, project) => {
    const branches = await branchNames(api, project)
    const printer = printerOf(branches, flags, io, 1)
    const deadline = io.clock.now() + timeoutMs
    const startedAt = io.clock.now()
    let isOk = true
    for (const id of flags.refs) {
      let latest: Operation | undefined
      const done = waitingLine(() => waitText(latest, branches, io.clock.now() - startedAt), io)
      try {
        const onRead = (operation: Operation): void => {
          latest = operation
        }
        const { operation, end } = await waitForOperation({ api, clock: io.clock, project, id, deadline, onRead })
        printer.print(operation)
        isOk &&= end === 'good'
      } finally {
        done()
      }
    }
    return isOk ? EXIT.ok : EXIT.error
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

const branchNames = async (api: ReadApi, project: string): Promise<ReadonlyMap<string, string>> =>
  new Map((await api.listBranches(project)).map(({ id, name }) => [id, name]))

const isTable = ({ format }: CommonFlags): boolean => format !== 'json'

const tableOf = (
  sample: readonly Operation[],
  branches: ReadonlyMap<string, string>,
  flags: CommonFlags,
  io: Io,
): ReturnType<typeof operationsTable> =>
  operationsTable(
    sample,
    { branches, now: io.clock.date(), isWide: flags.format === 'wide' },
    tableStyle(io.stdout, flags, io.env),
  )

const tableText = (
  operations: readonly Operation[],
  branches: ReadonlyMap<string, string>,
  flags: CommonFlags,
  io: Io,
): string => {
  const table = tableOf(operations, branches, flags, io)
  return [table.head, ...operations.map(table.line)].join('\n')
}

interface Printer {
  print(operation: Operation): void
  /** Prints rows that are still buffered. */
  end(): void
}

/**
 * Prints JSON, one object a line, or a table whose rows are buffered until the column widths are known.
 *
 * @param measured number of rows that decide the column widths.
 */
const printerOf = (branches: ReadonlyMap<string, string>, flags: CommonFlags, io: Io, measured = MEASURED): Printer => {
  if (!isTable(flags)) return { print: (operation) => print(plainJson(operation), io.stdout), end: () => undefined }
  const buffered: Operation[] = []
  let table: ReturnType<typeof tableOf> | undefined
  const open = (): void => {
    table = tableOf(buffered, branches, flags, io)
    print([table.head, ...buffered.map(table.line)].join('\n'), io.stdout)
  }
  return {
    print: (operation) => {
      if (table !== undefined) return print(table.line(operation), io.stdout)
      buffered.push(operation)
      if (buffered.length >= measured) open()
    },
    end: () => {
      if (table === undefined) open()
    },
  }
}

/** The API has no filters (according to its public OpenAPI document). */
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
  const find = await oneProject(flags.project, io)
  return withReadApi(flags, io, async (api) => use(api, await find(api)))
}
