import { compare, nearest } from '../base/index.ts'
import type { Diagnostic, PlanCode, Source } from '../model/index.ts'

export const problem = (code: PlanCode, message: string, hint?: string, source?: Source): Diagnostic => ({
  severity: 'error',
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
  ...(source === undefined ? {} : { source }),
})

export const warning = (code: PlanCode, message: string, hint: string, source?: Source): Diagnostic => ({
  ...problem(code, message, hint, source),
  severity: 'warning',
})

/** Suggests the closest known name; `otherwise` if none is close. */
export const didYouMean = (wanted: string, known: readonly string[], otherwise: string): string => {
  const near = nearest(wanted, known)
  return near === undefined ? otherwise : `Did you mean \`${near}\`?`
}

const MAX_LISTED = 8

export const listNames = (names: readonly string[]): string => {
  if (names.length === 0) return 'It has none.'
  const more = names.length - MAX_LISTED
  const shown = [...names].sort(compare).slice(0, MAX_LISTED)
  return `It has ${shown.map((name) => `\`${name}\``).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

const NOWHERE: Source = { file: '', line: 0, column: 0, length: 1 }

/** By file, then by position. */
export const compareSource = (a: Source, b: Source): number =>
  compare(a.file, b.file) || a.line - b.line || a.column - b.column

export const bySource = (a: Diagnostic, b: Diagnostic): number =>
  compareSource(a.source ?? NOWHERE, b.source ?? NOWHERE) || compare(a.code, b.code) || compare(a.message, b.message)
