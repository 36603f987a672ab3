import { ApiError, type Operation, OperationEnds, type ReadApi, streamOperations } from '../../api/index.ts'
import {
  type Clock,
  counted,
  didYouMean,
  EspalierError,
  EXIT,
  type ExitCode,
  listed,
  plainJson,
  plainText,
} from '../../base/index.ts'
import { isBranchId } from '../../model/index.ts'
import { consoleStatus, operationsTable, STATUS_WORDS, time } from '../../report/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, duration, formatFlag, number, ONE_PROJECT, text, usageError } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { oneProject } from '../setup/live-projects.ts'
import { waitingLine } from '../terminal/bottom-lines.ts'
import { printNote } from '../terminal/report-problems.ts'
import { canRedraw, print, tableStyle } from '../terminal/terminal.ts'
import { untilInterrupted, watchScreen } from '../terminal/watch.ts'

const COMMON = {
  project: ONE_PROJECT,
  format: formatFlag('Output format; wide shows all columns, and json prints one object per line', [
    'terminal',
    'wide',
    'json',
  ]),
  ...CONNECTION_FLAGS,
} as const

const FILTER_FLAGS = {
  branch: text('Filters:', 'List only operations on this database branch, given by name or id', { value: 'BRANCH' }),
  compute: text('Filters:', 'List only operations on the compute with this id', { value: 'ID' }),
  action: text('Filters:', 'List only operations with this action, such as apply_config', { value: 'NAME' }),
  status: text('Filters:', 'List only operations with this status, as in the API (running) or the console (Error)', {
    value: 'NAME',
  }),
  since: duration('Filters:', 'List only operations created in the last TIME, such as 2h or 7d'),
} as const

const EXIT_NOTES = `Exit codes:
  0   done, even if no operation matches
  1   an error`

const LIST = {
  flags: {
    ...FILTER_FLAGS,
    limit: number('Filters:', 'List at most this many operations; 0 lists all', { default: 50 }),
    ...COMMON,
  },
  examples: [
    ['$0 operations list', 'List the newest fifty operations'],
    ['$0 operations list --status Error --since 7d --limit 0', 'List all failures in the last week'],
    ['$0 operations list --branch main --action apply_config', 'List configuration changes on main'],
  ],
  notes: EXIT_NOTES,
} as const satisfies Description

const GET = {
  positionals: { ref: { describe: 'Operation id' } },
  flags: {
    ...COMMON,
    project: {
      ...ONE_PROJECT,
      describe: 'Project whose id or name matches GLOB; optional if the manifests declare it',
    },
  },
  examples: [['$0 operations get ID --format json', 'Show all fields that the API returns']],
  notes: `Exit codes:
  0   shown
  1   no such operation, or another error`,
} as const satisfies Description

const WAIT = {
  positionals: { refs: { describe: 'Operation ids', array: true } },
  flags: {
    timeout: duration('', 'How long to wait for all operations together', { default: '10m' }),
    ...COMMON,
  },
  examples: [['$0 operations wait ID --timeout 5m', 'Wait for at most five minutes']],
  notes: `Exit codes:
  0   all operations finished or were skipped
  1   an operation failed permanently or was cancelled, the wait timed out, or another error`,
} as const satisfies Description

const WATCH = {
  flags: {
    ...FILTER_FLAGS,
    ...COMMON,
  },
  examples: [['$0 operations watch --branch main', 'Watch the operations on main']],
  notes: EXIT_NOTES,
} as const satisfies Description

type CommonFlags = Omit<GetFlags, 'ref'>
type ListFlags = ValuesOf<typeof LIST>
type GetFlags = ValuesOf<typeof GET>
type WatchFlags = ValuesOf<typeof WATCH>

/** How many operations to read. This is enough for all operations that start between two refreshes. */
const WATCHED = 100

export const listCommand = commandOf(LIST, async (flags, io) =>
  withProject(flags, io, async (session) => {
    const isWanted = filterOf(flags, session)
    const since = startOf(flags, io)
    const wanted: Operation[] = []
    for await (const operation of streamOperations(session.api, session.project, io.clock)) {
      // The newest operation comes first, so all remaining operations are older too.
      if (Date.parse(operation.createdAt) < since) break
      if (!isWanted(operation)) continue
      wanted.push(operation)
      if (wanted.length === flags.limit) break
    }
    if (wanted.length === 0) await checkNames(flags, session, io)
    if (wanted.length > 0) session.show(wanted)
    else if (isTable(flags)) print('No operations match.', io.stderr)
    return EXIT.ok
  }),
)

export const watchCommand = commandOf(WATCH, async (flags, io) =>
  withProject(flags, io, async (session) => {
    const isWanted = filterOf(flags, session)
    // Fixed, so that an operation does not leave the list before it ends.
    const since = startOf(flags, io)
    const read = async (): Promise<readonly Operation[]> => {
      const { operations } = await session.api.listOperations(session.project, { limit: WATCHED })
      return operations.filter((operation) => Date.parse(operation.createdAt) >= since && isWanted(operation))
    }
    if ((await read()).length === 0) await checkNames(flags, session, io)
    if (isTable(flags) && canRedraw(io.stdout, io.env)) {
      await watchScreen({ command: 'operations', read, draw: session.draw }, io)
      return EXIT.ok
    }
    const known = new Map<string, string>()
    const printChanged = async (): Promise<void> => {
      const changed = (await read()).filter((one) => known.get(one.id) !== `${one.status} ${one.failuresCount}`)
      for (const { id, status, failuresCount } of changed) known.set(id, `${status} ${failuresCount}`)
      session.show(changed.toReversed())
    }
    await untilInterrupted(printChanged, io)
    return EXIT.ok
  }),
)

export const getCommand = commandOf(GET, async (flags, io) =>
  withProject(
    flags,
    io,
    async (session) => {
      session.show([await session.api.getOperation(session.project, flags.ref)])
      return EXIT.ok
    },
    (api, projects) => projectOf(api, flags.ref, projects),
  ),
)

/** The first of the declared projects that has the operation. */
const projectOf = async (api: ReadApi, id: string, projects: readonly string[]): Promise<string> => {
  for (const project of projects) {
    const found = await api.getOperation(project, id).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    })
    if (found !== undefined) return project
  }
  throw usageError(`None of the ${projects.length} declared projects has the operation ${plainText(id)}.`)
}

/** Waits until each operation has ended. The exit code is 1 if an operation failed or the wait timed out. */
export const waitCommand = commandOf(WAIT, async (flags, io) =>
  withProject(flags, io, async (session) => {
    const startedAt = io.clock.now()
    let isOk = true
    for (const id of flags.refs) {
      let latest: Operation | undefined
      const done = waitingLine(() => waitText(latest, session, io.clock.now() - startedAt), io)
      try {
        const { operation, end } = await waitForOperation({
          ...session,
          clock: io.clock,
          id,
          deadline: startedAt + flags.timeout,
          onRead: (operation) => {
            latest = operation
          },
        })
        session.show([operation])
        isOk &&= end === 'good'
      } finally {
        done()
      }
    }
    return isOk ? EXIT.ok : EXIT.error
  }),
)

const waitText = (operation: Operation | undefined, { branches }: Session, elapsedMs: number): string => {
  if (operation === undefined) return ''
  const { action, status, failuresCount, branchId = '' } = operation
  const failures = failuresCount === 0 ? '' : `, ${counted(failuresCount, 'failure')}`
  const retry = status === 'failed' ? ', may be retried' : ''
  const where = branches.get(branchId) ?? branchId
  return plainText(`Waiting ${time(elapsedMs)}: ${action} on ${where} ${status}${failures}${retry}`)
}

interface Session {
  readonly api: ReadApi
  readonly project: string
  /** Branch names by id. */
  readonly branches: ReadonlyMap<string, string>
  /** Prints one JSON object per line, or the rows of a table whose column widths fit the first operations. */
  readonly show: (operations: readonly Operation[]) => void
  /** A table whose column widths fit these operations. */
  readonly draw: (operations: readonly Operation[]) => string
}

const withProject = async (
  flags: CommonFlags,
  io: Io,
  use: (session: Session) => Promise<ExitCode>,
  choose?: (api: ReadApi, projects: readonly string[]) => Promise<string>,
): Promise<ExitCode> => {
  const find = await oneProject(flags.project, io, flags.invocation, choose)
  return withReadApi(flags, io, async (api) => {
    const project = await find(api)
    const branches = new Map((await api.listBranches(project)).map(({ id, name }) => [id, name]))
    const isWide = flags.format === 'wide'
    const tableOf = (sample: readonly Operation[]) =>
      operationsTable(sample, { branches, now: io.clock.date(), isWide }, tableStyle(io.stdout, flags, io.env))
    let shown: ReturnType<typeof tableOf> | undefined
    const show = (operations: readonly Operation[]): void => {
      if (isTable(flags) && shown === undefined) {
        shown = tableOf(operations)
        print(shown.head, io.stdout)
      }
      for (const operation of operations) print(shown?.line(operation) ?? plainJson(operation), io.stdout)
    }
    const draw = (operations: readonly Operation[]): string => {
      const { head, line } = tableOf(operations)
      return [head, ...operations.map(line)].join('\n')
    }
    return use({ api, project, branches, show, draw })
  })
}

const isTable = ({ format }: CommonFlags): boolean => format !== 'json'

const startOf = ({ since }: ListFlags | WatchFlags, { clock }: Io): number =>
  since === undefined ? 0 : clock.date() - since

const noMatch = (
  flag: string,
  given: string,
  why: string,
  known: readonly string[],
  all = `It has ${listed(known.map(plainText)) || 'none'}.`,
): EspalierError =>
  usageError(`--${flag} ${plainText(given)} matches no operation: ${why}.`, didYouMean(given, known) ?? all)

/** Operations are filtered here because, according to its public OpenAPI document, the API cannot filter them. */
const filterOf = (
  { branch, compute, action, status }: ListFlags | WatchFlags,
  { branches }: Session,
): ((operation: Operation) => boolean) => {
  const word = status?.toLowerCase()
  if (word !== undefined && !STATUS_WORDS.some((one) => one.toLowerCase() === word)) {
    const known = STATUS_WORDS.map((one) => one.toLowerCase())
    throw noMatch('status', word, 'it is not a status', known, `Statuses: ${STATUS_WORDS.join(', ')}.`)
  }
  // The operations of a deleted branch can still be found by its id.
  const names = [...branches.values()]
  if (branch !== undefined && !isBranchId(branch) && !names.includes(branch)) {
    throw noMatch('branch', branch, 'the project has no such branch', names)
  }
  return (operation) =>
    (branch === undefined || operation.branchId === branch || branches.get(operation.branchId ?? '') === branch) &&
    (compute === undefined || operation.endpointId === compute) &&
    (action === undefined || operation.action === action) &&
    (word === undefined || operation.status === word || consoleStatus(operation.status).toLowerCase() === word)
}

/** From the API reference. More may be added. */
const ACTIONS = [
  'apply_config',
  'apply_storage_config',
  'check_availability',
  'create_branch',
  'create_timeline',
  'delete_tenant',
  'start_compute',
  'suspend_compute',
  'tenant_attach',
  'tenant_detach',
  'tenant_reattach',
  'timeline_archive',
  'timeline_unarchive',
]

/**
 * Checks the names in the filters once no operation matches: deleted computes still have operations.
 *
 * @throws {EspalierError} `E_USAGE` for a compute that the project does not have, and for a mistyped action.
 */
const checkNames = async (flags: ListFlags | WatchFlags, { api, project }: Session, io: Io): Promise<void> => {
  const { compute, action } = flags
  if (compute !== undefined) {
    const ids = (await api.listComputes(project)).map(({ id }) => id)
    if (!ids.includes(compute)) throw noMatch('compute', compute, 'the project has no such compute', ids)
  }
  if (action === undefined || ACTIONS.includes(action)) return
  const hint = didYouMean(action, ACTIONS)
  if (hint === undefined) printNote(`\`${plainText(action)}\` is not a known action.`, flags, io)
  else throw usageError(`--action ${plainText(action)} matches no operation: it is not a known action.`, hint)
}

const POLL_MS = 1_000

/**
 * @param options `deadline` is in milliseconds of the clock. `onRead` is called each time the operation is read.
 * @throws {EspalierError} `E_TIMEOUT` if the operation has not ended by the deadline.
 */
export const waitForOperation = async (options: {
  readonly api: Pick<ReadApi, 'getOperation'>
  readonly clock: Clock
  readonly project: string
  readonly id: string
  readonly deadline: number
  readonly onRead?: (operation: Operation) => void
}): Promise<{ readonly operation: Operation; readonly end: 'good' | 'bad' }> => {
  const { api, clock, project, id, deadline, onRead } = options
  const ends = new OperationEnds(clock)
  for (;;) {
    const operation = await api.getOperation(project, id)
    onRead?.(operation)
    const end = ends.see(operation)
    if (end !== undefined) return { operation, end }
    if (clock.now() >= deadline) {
      throw new EspalierError('E_TIMEOUT', `The operation ${id} is still ${operation.status}.`, {
        hint: 'It continues on the service. To keep waiting, run the command again with a longer --timeout.',
      })
    }
    await clock.sleep(Math.min(POLL_MS, Math.max(1, deadline - clock.now())))
  }
}
