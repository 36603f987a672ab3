export interface Explanation {
  readonly rule: string
  /** As written in a manifest or command, or as shown in output. Absent if `mistake` and `correction` show it. */
  readonly example?: string
  /** A manifest, command line or setting that causes the code, and its correction. */
  readonly mistake?: string
  readonly correction?: string
  readonly wayOut?: string
}

const indented = (text: string): string => text.replace(/^/gm, '    ')

export const explanationText = (code: string, explanation: Explanation): string => {
  const { rule, example, wayOut, mistake, correction } = explanation
  return [
    `${code}\n`,
    `  rule     ${rule}`,
    ...(example === undefined ? [] : [`  example  ${example}`]),
    ...(wayOut === undefined ? [] : [`  way out  ${wayOut}`]),
    ...(mistake === undefined ? [] : [`\n  wrong\n${indented(mistake)}`]),
    ...(correction === undefined ? [] : [`\n  right\n${indented(correction)}`]),
  ].join('\n')
}
