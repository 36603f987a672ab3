import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'

export const initCommand = defineCommand({
  command: 'init',
  summary: 'Start here: a first manifest, editor settings and workflows; overwrites nothing',
  flags: {
    project: {
      type: 'string',
      requiresArg: true,
      describe: 'Project id (default: the only one that the key sees, else you are asked)',
    },
    'no-editor': { type: 'boolean', describe: 'No editor settings (.vscode/)' },
    'no-workflows': { type: 'boolean', describe: 'No workflows (.github/workflows/)' },
    ...API_FLAGS,
  },
  examples: [
    ['$0 init', 'With a key: the manifest of what is live, whose plan is empty'],
    ['$0 init --project quiet-river-12345678', 'Without a key: a manifest to fill in'],
    ['$0 init --sandbox --seed seed.yaml', 'Without an account'],
  ],
  notes: `Files that are there already stay as they are; of .vscode/settings.json only what is missing is added.

Exit codes:
  0   done
  1   wrong input, or nothing can be found out without a key

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/init.ts')).runInit(argv, io),
})
