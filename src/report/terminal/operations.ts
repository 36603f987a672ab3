/** A table of operations that uses the same terms as the service's console. */
import { plainText } from '../../base/index.ts'
import { ageOf, time } from '../words/counts.ts'
import { paintOf, type Style } from './style.ts'
import { type Column, type Table, tableOf } from './table.ts'

interface ListedOperation {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly branchId?: string
  readonly endpointId?: string
  readonly failuresCount: number
  readonly createdAt: string
  readonly totalDurationMs?: number
  readonly error?: string
}

/** The terms that the console uses for statuses. Other statuses are shown as the API returns them. */
const CONSOLE_WORDS: ReadonlyMap<string, string> = new Map([
  ['finished', 'OK'],
  ['scheduling', 'Scheduling'],
  ['running', 'In progress'],
  ['cancelling', 'In progress'],
  ['failed', 'Error'],
  ['error', 'Error'],
])

/** The names that `--status` accepts. */
export const STATUS_WORDS: readonly string[] = [
  ...new Set([...CONSOLE_WORDS.keys(), 'cancelled', 'skipped', ...CONSOLE_WORDS.values()]),
]

export const consoleStatus = (status: string): string => CONSOLE_WORDS.get(status) ?? status

interface OperationsContext {
  /** Branch names by id. A deleted branch has no name here, so its id is shown. */
  readonly branches: ReadonlyMap<string, string>
  readonly now: number
  /** Whether to show every column in full, however long the lines become. */
  readonly isWide: boolean
}

/** @param sample the operations that determine the column widths. */
export const operationsTable = (
  sample: readonly ListedOperation[],
  context: OperationsContext,
  style: Style,
): Table<ListedOperation> => {
  const width = context.isWide ? Number.POSITIVE_INFINITY : style.width
  const { head, line } = tableOf(columns(context), sample, { ...style, width })
  const errorLine = (error: string): string => `\n${paintOf(style).red(`    ${plainText(error)}`)}`
  return {
    head,
    line: (operation) => line(operation) + (operation.error === undefined ? '' : errorLine(operation.error)),
  }
}

const columns = ({ branches, now }: OperationsContext): readonly Column<ListedOperation>[] => [
  { title: 'OPERATION', text: ({ action }) => plainText(action), narrowest: 16 },
  {
    title: 'BRANCH',
    text: ({ branchId }) => plainText(branches.get(branchId ?? '') ?? branchId ?? ''),
    narrowest: 10,
  },
  {
    title: 'STATUS',
    text: ({ status }) => plainText(consoleStatus(status)),
    color: ({ status }, paint) => {
      const word = consoleStatus(status)
      if (word === 'OK') return paint.green
      return word === 'Error' || status === 'cancelled' ? paint.red : paint.yellow
    },
  },
  {
    title: 'DURATION',
    text: ({ totalDurationMs = 0 }) => (totalDurationMs === 0 ? '' : time(totalDurationMs)),
  },
  { title: 'AGE', text: ({ createdAt }) => ageOf(createdAt, now) },
  { title: 'ID', text: ({ id }) => plainText(id), isOptional: true },
  { title: 'FAILURES', text: ({ failuresCount }) => String(failuresCount), isOptional: true },
  { title: 'CREATED', text: ({ createdAt }) => plainText(createdAt), isOptional: true },
  { title: 'COMPUTE', text: ({ endpointId = '' }) => plainText(endpointId), isOptional: true },
]
