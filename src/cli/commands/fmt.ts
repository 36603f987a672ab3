import { defineCommand } from '../command.ts'
import { PATHS } from './paths.ts'

export const fmtCommand = defineCommand({
  command: 'fmt [paths..]',
  summary: 'Put manifests in canonical order and spelling; comments and layout stay; no network',
  positionals: PATHS,
  flags: {
    check: { type: 'boolean', describe: 'Write nothing; exit code 2 where something would be' },
    diff: { type: 'boolean', describe: 'Show what changes as well; with --check it is not written' },
  },
  examples: [
    ['$0 fmt', 'The manifests here'],
    ['$0 fmt --check --diff fleet/', 'In CI'],
    ['$0 fmt - < espalier.yaml', 'From stdin to stdout, for an editor'],
  ],
  notes: `Keys are put in the order of docs/manifest.md, and a comment goes with the key below it. Durations and sizes get
their usual spelling (\`300s\` is \`5m\`). The order of branches, replicas, profiles and rules is yours, and so are
indentation, quotes and blank lines. The names of changed files are printed.

Exit codes:
  0   everything is formatted now
  1   a file cannot be read as YAML, or wrong usage
  2   --check: something would change`,
  run: async (argv, io) => (await import('../runs/fmt.ts')).runFmt(argv, io),
})
