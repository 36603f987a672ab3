export interface Explanation {
  readonly rule: string
  /** A case in which the code occurs. Absent if `mistake` and `correction` already show one. */
  readonly example?: string
  /** A manifest, command line or setting that causes the code, and the corrected form of it. */
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
