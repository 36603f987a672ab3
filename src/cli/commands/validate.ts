import { counted, EXIT } from '../../base/index.ts'
import { VERSION } from '../../base/version.ts'
import { hasErrors } from '../../model/index.ts'
import { checkOffline, manifestsAt } from '../../workflow/index.ts'
import { commandOf, type Description } from '../command.ts'
import { formatFlag, PATHS, REVIEW_FLAGS, text } from '../setup/flags.ts'
import { readReviewed } from '../setup/manifests.ts'
import { print, styleOf } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: PATHS,
  flags: {
    format: formatFlag('Output format; sarif is for code scanning', ['terminal', 'json', 'sarif']),
    base: text('Review:', 'Check the policies of git ref REF, and only warn of violations no worse than at REF', {
      value: 'REF',
    }),
    policy: REVIEW_FLAGS.policy,
    override: REVIEW_FLAGS.override,
  },
  examples: [
    ['$0 validate', 'Check espalier.yaml, or else the files in espalier/'],
    ["$0 validate fleet/ 'more/*.yaml'", 'Check a directory and a glob'],
    ['$0 validate - < espalier.yaml', 'Check a manifest from stdin'],
    ['$0 validate --format sarif > espalier.sarif', 'Write a report for code scanning'],
  ],
  notes: `Exit codes:
  0   there are no errors, but there may be warnings
  1   there are errors, or wrong usage`,
} as const satisfies Description

export const validateCommand = commandOf(DESCRIPTION, async (flags, io) => {
  const manifests = await readReviewed(flags.paths, io, flags)
  const { loaded } = manifests
  const { files } = loaded
  const base = flags.base === undefined ? undefined : await manifestsAt(flags.base, manifests, { cwd: io.cwd })
  const checked = checkOffline(manifests, base)
  const diagnostics = [...loaded.diagnostics, ...(hasErrors(loaded.diagnostics) ? [] : checked.diagnostics)]
  const { undecided } = checked
  if (flags.format === 'terminal' && diagnostics.length === 0) {
    print([`No problems in ${counted(files.length, 'file')}.`, ...left(undecided)].join(' '), io.stdout)
    return EXIT.ok
  }
  // This is loaded only if there is something to print.
  const { jsonDiagnostics, sarifDiagnostics, terminalDiagnostics } = await import('../../report/index.ts')
  if (flags.format === 'json') print(jsonDiagnostics(diagnostics, { files, checkedByPlan: undecided }), io.stdout)
  else if (flags.format === 'sarif') print(sarifDiagnostics(diagnostics, { version: VERSION }), io.stdout)
  else {
    print(terminalDiagnostics(diagnostics, styleOf(io.stdout, flags, io.env), loaded.lineOf), io.stdout)
    for (const note of left(undecided)) print(note, io.stdout)
  }
  return hasErrors(diagnostics) ? EXIT.error : EXIT.ok
})

/** Names the policies that cannot be checked without live values. */
const left = (policies: readonly string[]): readonly string[] =>
  policies.length === 0
    ? []
    : [
        `${policies.length === 1 ? 'One policy depends' : `${policies.length} policies depend`} on live values, which only plan checks: ${policies.join(', ')}.`,
      ]
