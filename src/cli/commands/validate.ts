import { TIER_NAMES } from '../../model/index.ts'
import { defineCommand, type ValuesOf } from '../command.ts'
import { text } from '../flag.ts'
import { MANIFEST_FLAGS } from '../flags.ts'
import { REVIEW_FLAGS } from '../review-flags.ts'
import { PATHS } from './paths.ts'

const FLAGS = {
  format: text('Output:', 'Output format; sarif is for code scanning', {
    choices: ['terminal', 'json', 'sarif'],
    default: 'terminal',
  }),
  tier: { ...REVIEW_FLAGS.tier, describe: `Check the limits of this account plan: ${TIER_NAMES}` },
  'tier-table': REVIEW_FLAGS['tier-table'],
  policy: REVIEW_FLAGS.policy,
  override: REVIEW_FLAGS.override,
  ...MANIFEST_FLAGS,
} as const

export type ValidateFlags = ValuesOf<typeof FLAGS, 'paths'>

export const validateCommand = defineCommand({
  command: 'validate [paths..]',
  summary: 'Check manifests: every problem of every file in one run; no network, no key',
  positionals: PATHS,
  flags: FLAGS,
  examples: [
    ['$0 validate', 'The manifests here'],
    ["$0 validate fleet/ 'more/*.yaml'", 'A directory and a glob'],
    ['$0 validate --tier scale', 'Also against the limits of the Scale plan'],
    ['$0 validate - < espalier.yaml', 'What is piped in'],
    ['$0 validate --format sarif > espalier.sarif', 'For code scanning'],
  ],
  notes: `Exit codes:
  0   no errors (there may be warnings)
  1   errors, or wrong usage`,
  run: async (argv, io) => (await import('../runs/validate.ts')).runValidate(argv, io),
})
