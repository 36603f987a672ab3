import type { Command, ValuesOf } from '../command.ts'
import { toggle } from '../flag.ts'
import { CONNECTION_FLAGS, formatFlag, PATHS, SELECTION_FLAGS } from '../flags.ts'

export const statusCommand = {
  command: 'status [paths..]',
  summary: 'List live computes, and show whether they match the manifests',
  positionals: PATHS,
  flags: {
    format: formatFlag('Output format; wide shows all columns, and name shows only ids', [
      'terminal',
      'wide',
      'json',
      'name',
    ]),
    watch: toggle('Output:', 'Refresh the list every 5 seconds, until Ctrl-C is pressed'),
    ...SELECTION_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 status', 'List the computes of all declared projects'],
    ["$0 status --project 'shop*' --branch main", 'List only some projects and branches'],
    ['$0 status --project shop', 'List a project by its name or id, even if no manifest declares it'],
    ['$0 status --watch', 'Refresh the list every 5 seconds'],
    ['$0 status -o wide', 'Show all columns, including hosts'],
  ],
  notes: `SYNC compares each compute with the manifests:
  in sync     a manifest declares it, and it matches
  differs     a plan would change it
  unmanaged   no manifest declares it
  unknown     its project cannot be planned, or a manifest has errors; both are shown below the table

With --project, manifests are optional. A project that no manifest declares is listed without
SYNC.

On a terminal, columns that do not fit are left out. In a pipe, all columns are printed.

Exit codes:
  0   listed
  1   wrong input, or a project cannot be read or planned; the others are listed`,
} as const satisfies Command

export type StatusFlags = ValuesOf<typeof statusCommand>
