import type { Command } from '../command.ts'
import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'

const COMMON = {
  project: {
    type: 'string',
    requiresArg: true,
    describe: 'Project id (default: the only project of the manifests here)',
  },
  format: {
    type: 'string',
    choices: ['terminal', 'json'],
    default: 'terminal',
    requiresArg: true,
    group: 'Output:',
    describe: 'How to show them; json is an object a line',
  },
  ...API_FLAGS,
} as const

const FILTERS = {
  branch: { type: 'string', requiresArg: true, group: 'Only those:', describe: 'Of a branch, by name or id' },
  compute: { type: 'string', requiresArg: true, group: 'Only those:', describe: 'Of a compute, by id' },
  action: { type: 'string', requiresArg: true, group: 'Only those:', describe: 'Of an action: apply_config, …' },
  status: {
    type: 'string',
    requiresArg: true,
    group: 'Only those:',
    describe: "With a status, in the API's word or the console's: running, Error, …",
  },
  since: { type: 'string', requiresArg: true, group: 'Only those:', describe: 'Begun within this time: 2h, 7d' },
  limit: { type: 'number', requiresArg: true, default: 50, group: 'Only those:', describe: 'The newest N' },
  all: { type: 'boolean', group: 'Only those:', describe: 'All, however many' },
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
    ['$0 operations list --status Error --since 7d --all', 'What failed within a week'],
    ['$0 operations list --branch main --action apply_config', 'What was changed on main'],
  ],
  notes: EXIT_NOTES,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsList(argv, io),
})

const getCommand = defineCommand({
  command: 'get <ref>',
  summary: 'Show one operation',
  positionals: { ref: { describe: 'Its id' } },
  flags: COMMON,
  examples: [['$0 operations get ID --format json', 'Everything that the API tells of it']],
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
  0   all have finished, or were skipped
  1   one failed for good or was cancelled, the time is over, or wrong input

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsWait(argv, io),
})

const watchCommand = defineCommand({
  command: 'watch',
  summary: 'Show operations as they begin and change, until Ctrl-C',
  flags: {
    interval: { type: 'string', requiresArg: true, default: '5s', describe: 'How long to wait between looks' },
    ...FILTERS,
    ...COMMON,
  },
  examples: [['$0 operations watch --branch main', 'What happens on main']],
  notes: EXIT_NOTES,
  run: async (argv, io) => (await import('../runs/operations.ts')).runOperationsWatch(argv, io),
})

export const operationsCommand: Command = {
  command: 'operations',
  summary: 'What the control plane does and did',
  flags: {},
  subcommands: [listCommand, getCommand, waitCommand, watchCommand],
  examples: [['$0 operations list', 'The newest fifty']],
  notes: "Durations, states and words are the console's. Filters are applied here: the API has none.",
}
