import type { Command } from '../command.ts'
import { defineCommand } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'

const COMMON = {
  project: {
    type: 'string',
    requiresArg: true,
    describe: 'Project id or name (default: the only one of the manifests)',
  },
  format: text('Output:', 'wide shows every column; json is one object per line', {
    alias: 'o',
    choices: ['terminal', 'wide', 'json'],
    default: 'terminal',
  }),
  ...API_FLAGS,
} as const

const FILTERS = {
  branch: { type: 'string', requiresArg: true, group: 'Filters:', describe: 'Branch, by name or id' },
  compute: { type: 'string', requiresArg: true, group: 'Filters:', describe: 'Compute, by id' },
  action: { type: 'string', requiresArg: true, group: 'Filters:', describe: 'Action, such as apply_config' },
  status: text('Filters:', 'Status, as the API or the console calls it: running, Error, …'),
  since: { type: 'string', requiresArg: true, group: 'Filters:', describe: 'Started within this time: 2h, 7d' },
  limit: { type: 'number', requiresArg: true, default: 50, group: 'Filters:', describe: 'List only the newest N' },
  all: toggle('Filters:', 'List all of them'),
} as const

const EXIT_NOTES = `Exit codes:
  0   done
  1   wrong input, or no such operation

${API_ENVIRONMENT}`

const listCommand = defineCommand({
  command: 'list',
  summary: 'List operations, newest first',
  flags: { ...FILTERS, ...COMMON },
  examples: [
    ['$0 operations list', 'The newest fifty'],
    ['$0 operations list --status Error --since 7d --all', 'Failures of the last week'],
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
  flags: {
    timeout: { type: 'string', requiresArg: true, default: '10m', describe: 'How long to wait for all of them' },
    ...COMMON,
  },
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
  flags: {
    interval: { type: 'string', requiresArg: true, default: '5s', describe: 'How often to refresh' },
    ...FILTERS,
    ...COMMON,
  },
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
