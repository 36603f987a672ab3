import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { API_FLAGS } from '../flags.ts'

export const importCommand = {
  command: 'import',
  summary: 'Write manifests that match live projects, so that their plans are empty',
  flags: {
    project: text(
      '',
      'Only projects whose id or name matches this glob; repeatable (default: every project that the key can access)',
      { array: true },
    ),
    all: toggle('', 'Write a file per project, even if there is only one'),
    branch: text('', 'Only branches whose name matches this glob; repeatable', { array: true }),
    pin: toggle('', 'Pin every compute by its id'),
    out: text('', 'File to write or update (default: stdout); for several projects, a folder (default: espalier)'),
    ...API_FLAGS,
  },
  examples: [
    ['$0 import', 'Every project that the key can access, into espalier/NAME.yaml'],
    ['$0 import --project shop --out espalier.yaml', 'One project, by its name or id'],
    ["$0 import --project 'shop*' --out fleet", 'Several projects, one file each in the folder fleet'],
    ['$0 import --project shop --out fleet.yaml', 'Add the missing parts to an existing file'],
    ["$0 import --project shop --branch 'preview/*'", 'Some branches, to stdout'],
  ],
  notes: `Settings that most computes share become \`defaults\`. Three or more branches with the same name
prefix and the same settings are suggested as a rule, in a comment. stderr lists inferred values
with their reasons, and settings that a manifest cannot express, which are not managed.

If the file of --out exists, missing computes are added and differing values are set to the live
ones. Everything else is kept, including declared computes that are not live.

Exit codes:
  0   written
  1   wrong input, or a project could not be imported; the others are written`,
} as const satisfies Command

export type ImportFlags = ValuesOf<typeof importCommand>
