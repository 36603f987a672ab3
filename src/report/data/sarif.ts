/** Prints diagnostics as SARIF 2.1.0 (OASIS), the format that code scanning tools read. */
import { encodePath, plainJson } from '../../base/index.ts'
import type { Diagnostic } from '../../model/index.ts'
import { messageOf } from '../words/names.ts'

export const sarifDiagnostics = (
  diagnostics: readonly Diagnostic[],
  { version }: { readonly version: string },
): string => {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'espalier', version, rules: codes.map((id) => ({ id })) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => result(diagnostic, codes)),
      },
    ],
  }
  return `${plainJson(log, 2)}\n`
}

const result = (diagnostic: Diagnostic, codes: readonly string[]) => {
  const { severity, code, source } = diagnostic
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: messageOf(diagnostic) },
    ...(source === undefined
      ? {}
      : {
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: encodePath(source.file) },
                region: {
                  startLine: source.line,
                  startColumn: source.column,
                  endLine: source.line,
                  endColumn: source.column + source.length,
                },
              },
            },
          ],
        }),
  }
}
