import { defineCommand } from '../command.ts'

export const explainCommand = defineCommand({
  command: 'explain [code]',
  summary: 'Explain a code of a diagnostic, a reason or an impact; without one, list all',
  positionals: { code: { describe: 'Such as E_SIZE_STEP, SIZE_DIFFERS or restart' } },
  flags: {},
  examples: [
    ['$0 explain E_SIZE_STEP', 'The rule, an example, the way out'],
    ['$0 explain', 'All codes'],
  ],
  notes: `Exit codes:
  0   explained
  1   there is no such code`,
  run: async (argv, io) => (await import('../runs/explain.ts')).runExplain(argv, io),
})
