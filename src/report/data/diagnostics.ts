/** Prints diagnostics as JSON. */
import { type Diagnostic, plainJson } from '../../model/index.ts'

/** @param extra additional keys for the document. */
export const jsonDiagnostics = (
  diagnostics: readonly Diagnostic[],
  extra: Readonly<Record<string, unknown>> = {},
): string => {
  const flat = diagnostics.map(({ severity, code, message, hint, source }) => ({
    severity,
    code,
    message,
    hint: hint ?? null,
    file: source?.file ?? null,
    line: source?.line ?? null,
    column: source?.column ?? null,
    length: source?.length ?? null,
  }))
  return `${plainJson({ diagnostics: flat, ...extra }, 2)}\n`
}
