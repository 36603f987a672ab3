/** Diagnostics of manifests, or of what they ask of the live projects, in the format that was asked for. */
import type { LoadedManifests } from '../manifest/index.ts'
import type { Diagnostic } from '../model/index.ts'
import { jsonDiagnostics, terminalDiagnostics } from '../report/index.ts'
import { print, styleOf } from './terminal.ts'

/** JSON goes to stdout, since a program reads it there; words for people go to stderr. */
export const reportProblems = (
  diagnostics: readonly Diagnostic[],
  loaded: LoadedManifests,
  flags: { readonly format: string; readonly noColor?: boolean | undefined },
): void => {
  if (flags.format === 'json') print(jsonDiagnostics(diagnostics, { files: loaded.files }))
  else print(terminalDiagnostics(diagnostics, styleOf(process.stderr, flags), loaded.lineOf), process.stderr)
}
