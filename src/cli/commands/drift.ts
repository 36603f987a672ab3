import type { Command, ValuesOf } from '../command.ts'
import { text } from '../flag.ts'
import { CONNECTION_FLAGS, EXIT_ERROR, formatFlag, PATHS, SELECTION_FLAGS } from '../flags.ts'

export const driftCommand = {
  command: 'drift [paths..]',
  summary: 'Show the differences between manifests and live projects, and which of the two changed',
  positionals: {
    paths: { ...PATHS.paths, describe: 'Files, directories or globs (default: espalier.yaml, else espalier/)' },
  },
  flags: {
    base: text('', 'Git ref at which the manifests matched the live projects', { value: 'REF', default: 'HEAD' }),
    format: formatFlag('Output format', ['terminal', 'json']),
    ...SELECTION_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 drift', 'Show changes made outside the manifests since the last commit'],
    ['$0 drift --base v1.4', 'Show changes made outside the manifests since a release'],
  ],
  notes: `Exit codes:
  0   there is no drift: no live project changed
  ${EXIT_ERROR},
      or a project cannot be planned, in which case the others are shown
  2   there is drift: a live project changed`,
} as const satisfies Command

export type DriftFlags = ValuesOf<typeof driftCommand>
