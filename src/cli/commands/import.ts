import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'

export const importCommand = defineCommand({
  command: 'import',
  summary: 'Write a manifest of a live project, whose plan is empty',
  flags: {
    project: { type: 'string', requiresArg: true, demandOption: true, describe: 'Project id or name' },
    branch: { type: 'string', requiresArg: true, describe: 'Only branches that match this glob' },
    pin: { type: 'boolean', describe: 'Pin every compute by its id' },
    out: {
      type: 'string',
      requiresArg: true,
      describe: 'File to write, or to add to where it is there (default: stdout)',
    },
    ...API_FLAGS,
  },
  examples: [
    ['$0 import --project quiet-river-12345678 --out espalier.yaml', 'The whole project'],
    ['$0 import --project quiet-river-12345678 --out fleet.yaml', 'Into a file that is there: what is missing in it'],
    ["$0 import --project quiet-river-12345678 --branch 'preview/*'", 'Some of its branches, to look at'],
  ],
  notes: `What most computes share becomes defaults, and three branches or more that share a prefix and a shape become a
rule. What a manifest cannot hold is listed, and left alone by plan and apply.

Where FILE is there, what is live and not in it is added to it, and values that differ become the live ones; every
other byte stays. What it declares that is not live stops the import: apply it, or take it out.

Exit codes:
  0   written
  1   wrong input, or there is nothing to import

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/import.ts')).runImport(argv, io),
})
