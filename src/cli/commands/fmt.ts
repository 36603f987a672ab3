import type { Command, ValuesOf } from '../command.ts'
import { toggle } from '../flag.ts'
import { PATHS } from '../flags.ts'

export const fmtCommand = {
  command: 'fmt [paths..]',
  summary: 'Format manifests with canonical key order and values, keeping comments and layout; needs no network access',
  positionals: PATHS,
  flags: {
    check: toggle('', 'Do not write files, but print what would change, and exit with 2 if anything would'),
  },
  examples: [
    ['$0 fmt', 'Format espalier.yaml, or else the files in espalier/'],
    ['$0 fmt --check fleet/', 'In CI, fail if a file is not formatted, and show the diff'],
    ['$0 fmt - < espalier.yaml', 'Format from stdin to stdout, for use in an editor'],
  ],
  notes: `Keys are put in the order of docs/manifest.md, and a comment moves with the key below it. Durations
and sizes are written in their canonical form (\`300s\` becomes \`5m\`). The order of branches,
replicas, profiles and rules does not change, nor do indentation, quotes and blank lines. The names
of changed files are printed.

Exit codes:
  0   everything is formatted now
  1   a file cannot be read as YAML, or wrong usage
  2   with --check, a file would change`,
} as const satisfies Command

export type FmtFlags = ValuesOf<typeof fmtCommand>
