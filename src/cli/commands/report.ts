import type { Command, ValuesOf } from '../command.ts'
import { text } from '../flag.ts'

export const mergeCommand = {
  command: 'merge <refs..>',
  summary: "Merge the plans of a fleet's shards, without network access or a key",
  positionals: {
    refs: { describe: 'Files that plan --out or plan --format json wrote, one for each shard', array: true },
  },
  flags: {
    format: text('Output:', "Output format; markdown is a single comment, shortened to fit GitHub's limit", {
      choices: ['terminal', 'json', 'markdown'],
      default: 'terminal',
    }),
  },
  examples: [
    ['$0 report merge plans/*.json', 'Show the plans of all shards as one'],
    ['$0 report merge plans/*.json --format markdown', 'Print a single comment for any number of jobs'],
  ],
  notes: `Exit codes:
  0   merged
  1   a file is not a plan, or the plans are not the shards of one fleet`,
} as const satisfies Command

export const reportCommand: Command = {
  command: 'report',
  summary: 'Combine several plans into one report',
  flags: {},
  examples: [['$0 report merge plans/*.json', 'Merge the plans of all shards']],
  notes: 'To plan a shard, use espalier plan --shard.',
}

export type MergeFlags = ValuesOf<typeof mergeCommand>
