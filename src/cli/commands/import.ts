import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { CONNECTION_FLAGS } from '../flags.ts'

export const importCommand = {
  command: 'import',
  summary: 'Write manifests that match the live projects, so that a plan shows no changes',
  flags: {
    project: text(
      '',
      'Only projects whose id or name matches this glob; repeatable (default: every project that the key can access)',
      { value: 'GLOB', array: true },
    ),
    branch: text('', 'Only branches whose name matches this glob; repeatable', { value: 'GLOB', array: true }),
    pin: toggle('', 'Pin every compute by its id'),
    out: text(
      '',
      'File to write or update (default: stdout). With several projects, the folder to write to (default: espalier)',
      { value: 'FILE' },
    ),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 import', 'Import every project that the key can access to espalier/NAME.yaml'],
    ['$0 import --project shop --out espalier.yaml', 'Import one project, by its name or id'],
    ["$0 import --project 'shop*' --out fleet", 'Import several projects, each to its own file in fleet/'],
    ['$0 import --project shop --out fleet.yaml', 'Update an existing manifest'],
    ["$0 import --project shop --branch 'preview/*'", 'Print a manifest for the matching branches'],
  ],
  notes: `Settings that most computes share become \`defaults\`. Branches that expire, or that share a prefix
such as preview/, are declared by a rule instead of by name. stderr lists what was inferred, with
the reasons. It also lists settings that a manifest cannot express and that are
therefore not managed.

If the file given with --out exists, missing computes are added to it, and values that differ are
set to the live values. Everything else is kept, including declared computes that are not live.

Exit codes:
  0   written
  1   wrong input, or a project could not be imported, in which case the others are written`,
} as const satisfies Command

export type ImportFlags = ValuesOf<typeof importCommand>
