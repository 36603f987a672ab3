import type { Command, ValuesOf } from '../command.ts'

export const explainCommand = {
  command: 'explain [code]',
  summary: 'Explain a code or the compute sizes, or list all codes',
  positionals: { code: { describe: 'A code, such as E_SIZE, PRUNED or restart, or sizes' } },
  flags: {},
  examples: [
    ['$0 explain E_SIZE', 'Show the rule, an example and a fix'],
    ['$0 explain sizes', 'List the compute sizes, and the limits of the account plans'],
    ['$0 explain', 'List all codes'],
  ],
  notes: `Exit codes:
  0   explained
  1   there is no such code`,
} as const satisfies Command

export type ExplainFlags = ValuesOf<typeof explainCommand>
