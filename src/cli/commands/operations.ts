import { type Command, defineCommand, type ValuesOf } from '../command.ts'
import { number, text, toggle } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'

const COMMON = {
  project: text('', 'Project id or name (default: the only one of the manifests)'),
  format: text('Output:', 'wide shows every column; json is one object per line', {
    alias: 'o',
    choices: ['terminal', 'wide', 'json'],
    default: 'terminal',
  }),
  ...API_FLAGS,
} as const

const FILTERS = {
  branch: text('Filters:', 'Branch, by name or id'),
  compute: text('Filters:', 'Compute, by id'),
  action: text('Filters:', 'Action, such as apply_config'),
  status: text('Filters:', 'Status, as the API or the console calls it: running, Error, …'),
  since: text('Filters:', 'Started within this time: 2h, 7d'),
  limit: number('Filters:', 'List only the newest N', { default: 50 }),
  all: toggle('Filters:', 'List all of them'),
} as const

const LIST_FLAGS = { ...FILTERS, ...COMMON } as const

const WAIT_FLAGS = {
  timeout: text('', 'How long to wait for all of them', { default: '10m' }),
  ...COMMON,
} as const

const WATCH_FLAGS = {
  interval: text('', 'How often to refresh', { default: '5s' }),
  ...LIST_FLAGS,
} as const

export type CommonFlags = ValuesOf<typeof COMMON>
export type ListFlags = ValuesOf<typeof LIST_FLAGS>
export type GetFlags = ValuesOf<typeof COMMON, 'ref'>
export type WaitFlags = ValuesOf<typeof WAIT_FLAGS, 'refs'>
export type WatchFlags = ValuesOf<typeof WATCH_FLAGS>

const EXIT_NOTES = `Exit codes:
  0   done
  1   wrong input, or no such operation

${API_ENVIRONMENT}`

const listCommand = defineCommand({
  command: 'list',
  summary: 'List operations, newest first',
  flags: LIST_FLAGS,
  examples: [
    ['$0 operations list', 'The newest fifty'],
    ['$0 operations list --status Error --since 7d --all', 'Failures in the last week'],
    ['$0 operations list --branch main --action apply_config', 'Configuration changes on main'],
  ],
  notes: EXIT_NOTES,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsList(argv, io),
})

const getCommand = defineCommand({
  command: 'get <ref>',
  summary: 'Show one operation',
  positionals: { ref: { describe: 'Its id' } },
  flags: COMMON,
  examples: [['$0 operations get ID --format json', 'All fields that the API returns']],
  notes: EXIT_NOTES,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsGet(argv, io),
})

const waitCommand = defineCommand({
  command: 'wait <refs..>',
  summary: 'Wait until operations have ended',
  positionals: { refs: { describe: 'Their ids', array: true } },
  flags: WAIT_FLAGS,
  examples: [['$0 operations wait ID --timeout 5m', 'In a script']],
  notes: `Exit codes:
  0   all finished or were skipped
  1   one failed for good or was cancelled, the timeout passed, or wrong input

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsWait(argv, io),
})

const watchCommand = defineCommand({
  command: 'watch',
  summary: 'Watch operations start and change, until Ctrl-C',
  flags: WATCH_FLAGS,
  examples: [['$0 operations watch --branch main', 'Operations on main']],
  notes: EXIT_NOTES,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsWatch(argv, io),
})

export const operationsCommand: Command = {
  command: 'operations',
  summary: 'List, show and wait for operations of the control plane',
  flags: {},
  subcommands: [listCommand, getCommand, waitCommand, watchCommand],
  examples: [['$0 operations list', 'The newest fifty']],
  notes: 'Statuses are shown as in the console.',
}
