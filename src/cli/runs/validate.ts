import { counted } from '../../base/index.ts'
import { VERSION } from '../../base/version.ts'
import { EXIT, type ExitCode, hasErrors } from '../../model/index.ts'
import { checkOffline } from '../../workflow/index.ts'
import type { ValidateFlags } from '../commands/validate.ts'
import type { Io } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { print, styleOf } from '../terminal.ts'

export const runValidate = async (flags: ValidateFlags, io: Io): Promise<ExitCode> => {
  const manifests = await readManifests(flags.paths, io, flags)
  const { loaded } = manifests
  const { files } = loaded
  const checked = checkOffline(manifests)
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
}

/** Names the policies that cannot be checked without live values. */
const left = (policies: readonly string[]): readonly string[] =>
  policies.length === 0
    ? []
    : [
        `${policies.length === 1 ? 'One policy needs' : `${policies.length} policies need`} live values and can be checked only by plan: ${policies.join(', ')}.`,
      ]
