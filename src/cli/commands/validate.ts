import type { Command, ValuesOf } from '../command.ts'
import { formatFlag, PATHS, REVIEW_FLAGS } from '../flags.ts'

export const validateCommand = {
  command: 'validate [paths..]',
  summary: 'Check manifests and report every problem in every file, without network access or a key',
  positionals: PATHS,
  flags: {
    format: formatFlag('Output format; sarif is for code scanning', ['terminal', 'json', 'sarif']),
    policy: REVIEW_FLAGS.policy,
    override: REVIEW_FLAGS.override,
  },
  examples: [
    ['$0 validate', 'Check espalier.yaml, or else the files in espalier/'],
    ["$0 validate fleet/ 'more/*.yaml'", 'Check a directory and a glob'],
    ['$0 validate - < espalier.yaml', 'Check a manifest from stdin'],
    ['$0 validate --format sarif > espalier.sarif', 'Write a report for code scanning'],
  ],
  notes: `Exit codes:
  0   there are no errors, but there may be warnings
  1   there are errors, or wrong usage`,
} as const satisfies Command

export type ValidateFlags = ValuesOf<typeof validateCommand>
