import { defineCommand, type ValuesOf } from '../command.ts'
import { text } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS, EXIT_ERROR, MANIFEST_FLAGS, SELECTION_FLAGS } from '../flags.ts'
import { PATHS } from './paths.ts'

const FLAGS = {
  since: text('', 'Git ref at which manifests and live projects agreed', { default: 'HEAD' }),
  format: text('Output:', 'Output format', { choices: ['terminal', 'json'], default: 'terminal' }),
  ...MANIFEST_FLAGS,
  ...SELECTION_FLAGS,
  ...API_FLAGS,
} as const

export type DriftFlags = ValuesOf<typeof FLAGS, 'paths'>

export const driftCommand = defineCommand({
  command: 'drift [paths..]',
  summary: 'Show where manifests and live projects differ, and which of the two changed',
  positionals: PATHS,
  flags: FLAGS,
  examples: [
    ['$0 drift', 'Changes made by hand'],
    ['$0 drift --since v1.4', 'Since a release'],
  ],
  notes: `Exit codes:
  0   no drift: only the manifests changed
  ${EXIT_ERROR},
      or a project cannot be planned; the others are shown
  2   drift: a live project changed

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/drift.ts')).runDrift(argv, io),
})
