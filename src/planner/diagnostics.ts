import { nearest } from '../base/index.ts'
import type { Diagnostic, Source } from '../model/index.ts'
import { compare, compareSource } from './sort.ts'

export const problem = (code: string, message: string, hint?: string, source?: Source): Diagnostic => ({
  severity: 'error',
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
  ...(source === undefined ? {} : { source }),
})

export const warning = (code: string, message: string, hint?: string, source?: Source): Diagnostic => ({
  ...problem(code, message, hint, source),
  severity: 'warning',
})

/** The known name that was probably meant; where none is near, `otherwise`. */
export const meant = (wanted: string, known: readonly string[], otherwise: string): string => {
  const near = nearest(wanted, known)
  return near === undefined ? otherwise : `Did you mean \`${near}\`?`
}

/** Longer lists say nothing more. */
const MOST_LISTED = 8

export const listed = (names: readonly string[]): string => {
  if (names.length === 0) return 'It has none.'
  const more = names.length - MOST_LISTED
  const shown = [...names].sort(compare).slice(0, MOST_LISTED)
  return `It has ${shown.map((name) => `\`${name}\``).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

const NOWHERE: Source = { file: '', line: 0, column: 0, length: 1 }

export const bySource = (a: Diagnostic, b: Diagnostic): number =>
  compareSource(a.source ?? NOWHERE, b.source ?? NOWHERE) || compare(a.code, b.code) || compare(a.message, b.message)
