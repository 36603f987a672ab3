import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS, EXIT_ERROR, MANIFEST_FLAGS } from '../flags.ts'
import { PATHS } from './paths.ts'

export const driftCommand = defineCommand({
  command: 'drift [paths..]',
  summary: 'Show where manifests and live project differ, and which of the two moved; changes nothing',
  positionals: PATHS,
  flags: {
    since: {
      type: 'string',
      requiresArg: true,
      default: 'HEAD',
      describe: 'The git ref at which they agreed',
    },
    format: {
      type: 'string',
      choices: ['terminal', 'json'],
      default: 'terminal',
      requiresArg: true,
      group: 'Output:',
      describe: 'How to show it',
    },
    ...MANIFEST_FLAGS,
    ...API_FLAGS,
  },
  examples: [
    ['$0 drift', 'Did anyone change the live project by hand?'],
    ['$0 drift --since v1.4', 'Since the last release'],
  ],
  notes: `Exit codes:
  0   no drift; what differs, the manifests changed
  ${EXIT_ERROR},
      or a project that cannot be planned: the others are shown
  2   drift: the live project moved

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/drift.ts')).runDrift(argv, io),
})
