import type { Command, ValuesOf } from '../command.ts'
import { duration, number, text } from '../flag.ts'
import { CONNECTION_FLAGS, formatFlag, ONE_PROJECT } from '../flags.ts'

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
  branch: text('Filters:', 'Only operations on this branch, given by name or id', { value: 'GLOB' }),
  compute: text('Filters:', 'Only operations on this compute, given by id', { value: 'ID' }),
  action: text('Filters:', 'Only operations with this action, such as apply_config', { value: 'NAME' }),
  status: text('Filters:', 'Only operations with this status, written as in the API (running) or the console (Error)', {
    value: 'NAME',
  }),
  since: duration('Filters:', 'Only operations that started within this duration before now, such as 2h or 7d'),
} as const

const EXIT_NOTES = `Exit codes:
  0   done
  1   wrong input, or no such operation`

export const listCommand = {
  command: 'list',
  summary: 'List operations, with the newest first',
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
} as const satisfies Command

export const getCommand = {
  command: 'get <ref>',
  summary: 'Show one operation',
  positionals: { ref: { describe: 'Operation id' } },
  flags: COMMON,
  examples: [['$0 operations get ID --format json', 'Show all fields that the API returns']],
  notes: EXIT_NOTES,
} as const satisfies Command

export const waitCommand = {
  command: 'wait <refs..>',
  summary: 'Wait for operations to end',
  positionals: { refs: { describe: 'Operation ids', array: true } },
  flags: {
    timeout: duration('', 'How long to wait in total', { default: '10m' }),
    ...COMMON,
  },
  examples: [['$0 operations wait ID --timeout 5m', 'Wait for at most five minutes']],
  notes: `Exit codes:
  0   all operations finished or were skipped
  1   an operation failed permanently or was cancelled, the wait timed out, or wrong input`,
} as const satisfies Command

export const watchCommand = {
  command: 'watch',
  summary: 'Show operations as they start and change, until Ctrl-C is pressed',
  flags: {
    ...FILTER_FLAGS,
    ...COMMON,
  },
  examples: [['$0 operations watch --branch main', 'Watch the operations on main']],
  notes: EXIT_NOTES,
} as const satisfies Command

export const operationsCommand: Command = {
  command: 'operations',
  summary: 'List, show and wait for operations of the control plane',
  flags: {},
  examples: [['$0 operations list', 'List the newest fifty operations']],
  notes: 'Statuses are shown in the same terms as in the console.',
}

export type CommonFlags = Omit<GetFlags, 'ref'>
export type ListFlags = ValuesOf<typeof listCommand>
export type GetFlags = ValuesOf<typeof getCommand>
export type WaitFlags = ValuesOf<typeof waitCommand>
export type WatchFlags = ValuesOf<typeof watchCommand>
