import type { Command } from '../command.ts'
import { defineCommand } from '../command.ts'

const mergeCommand = defineCommand({
  command: 'merge <refs..>',
  summary: 'Join the plans of the parts of a fleet; no network, no key',
  positionals: { refs: { describe: 'Files that plan --out or plan --format json wrote, of all parts', array: true } },
  flags: {
    format: {
      type: 'string',
      choices: ['terminal', 'json', 'markdown'],
      default: 'terminal',
      requiresArg: true,
      group: 'Output:',
      describe: 'How to show the plan; markdown is one comment, shortened to what GitHub takes',
    },
  },
  examples: [
    ['$0 report merge plans/*.json', 'As one plan over all of them would look'],
    ['$0 report merge plans/*.json --format markdown', 'One comment, whatever number of jobs planned'],
  ],
  notes: `Exit codes:
  0   merged
  1   a file holds no plan, or the plans are not the parts of one fleet`,
  run: async (argv, io) => (await import('../runs/report.ts')).runReportMerge(argv, io),
})

export const reportCommand: Command = {
  command: 'report',
  summary: 'Reports made of several plans',
  flags: {},
  subcommands: [mergeCommand],
  examples: [['$0 report merge plans/*.json', 'The plans of all shards as one']],
  notes: 'A fleet is planned in parts with espalier plan --shard.',
}
