import { EXIT, type ExitCode, hasErrors } from '../../model/index.ts'
import { VERSION } from '../../model/version.ts'
import type { Io } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { print, styleOf } from '../terminal.ts'

export interface ValidateFlags {
  readonly paths: readonly string[]
  readonly format: string
  readonly sizeTable?: string | undefined
  readonly noColor?: boolean | undefined
}

export const runValidate = async (flags: ValidateFlags, io: Io): Promise<ExitCode> => {
  const { loaded } = await readManifests(flags.paths, flags.sizeTable, io)
  const { diagnostics, files } = loaded
  if (flags.format === 'terminal' && diagnostics.length === 0) {
    print(`No problems in ${files.length} file${files.length === 1 ? '' : 's'}.`, io.stdout)
    return EXIT.ok
  }
  // What there is nothing to lay out with is not loaded.
  const { jsonDiagnostics, sarifDiagnostics, terminalDiagnostics } = await import('../../report/index.ts')
  if (flags.format === 'json') print(jsonDiagnostics(diagnostics, { files }), io.stdout)
  else if (flags.format === 'sarif') print(sarifDiagnostics(diagnostics, { version: VERSION }), io.stdout)
  else print(terminalDiagnostics(diagnostics, styleOf(io.stdout, flags, io.env), loaded.lineOf), io.stdout)
  return hasErrors(diagnostics) ? EXIT.error : EXIT.ok
}
