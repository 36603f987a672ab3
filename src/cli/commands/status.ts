import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS, MANIFEST_FLAGS } from '../flags.ts'
import { PATHS } from './paths.ts'

export const statusCommand = defineCommand({
  command: 'status [paths..]',
  summary: 'List the live computes: state, size, id, host, last activity, and whether a manifest claims them',
  positionals: PATHS,
  flags: {
    project: {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'A project id in the place of manifests; may be given again',
    },
    format: {
      type: 'string',
      choices: ['terminal', 'json'],
      default: 'terminal',
      requiresArg: true,
      group: 'Output:',
      describe: 'How to show it',
    },
    watch: { type: 'boolean', group: 'Output:', describe: 'Look again and again, until Ctrl-C' },
    interval: {
      type: 'string',
      requiresArg: true,
      default: '5s',
      group: 'Output:',
      describe: 'How long to wait between looks',
    },
    ...MANIFEST_FLAGS,
    ...API_FLAGS,
  },
  examples: [
    ['$0 status', 'The projects of the manifests here'],
    ['$0 status --project quiet-river-12345678', 'A project without manifests'],
    ['$0 status --watch', 'As it changes'],
  ],
  notes: `Exit codes:
  0   shown
  1   wrong input, or a project that cannot be read or planned: the others are shown

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/status.ts')).runStatus(argv, io),
})
