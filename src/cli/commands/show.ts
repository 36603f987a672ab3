import { defineCommand } from '../command.ts'
import { PLAN_VIEW_FLAGS } from '../flags.ts'

export const showCommand = defineCommand({
  command: 'show <ref>',
  summary: 'Show a saved plan; no network, no key',
  positionals: { ref: { describe: 'A file that plan --out wrote' } },
  flags: {
    format: {
      type: 'string',
      choices: ['terminal', 'json', 'markdown'],
      default: 'terminal',
      requiresArg: true,
      group: 'Output:',
      describe: 'How to show the plan',
    },
    ...PLAN_VIEW_FLAGS,
  },
  examples: [['$0 show plan.json', 'What espalier apply plan.json would do']],
  notes: `Exit codes:
  0   shown
  1   not a saved plan
  4   it was edited after it was saved`,
  run: async (argv, io) => (await import('../runs/show.ts')).runShow(argv, io),
})
