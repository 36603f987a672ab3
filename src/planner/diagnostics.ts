import { closest } from 'fastest-levenshtein'
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

/** `The nearest is "x".`, the same whatever the order of `known`; or that there is none. */
export const nearest = (wanted: string, known: readonly string[]): string =>
  known.length === 0 ? 'It has none.' : `The nearest is \`${closest(wanted, [...known].sort())}\`.`

const NOWHERE: Source = { file: '', line: 0, column: 0, length: 1 }

export const bySource = (a: Diagnostic, b: Diagnostic): number =>
  compareSource(a.source ?? NOWHERE, b.source ?? NOWHERE) || compare(a.code, b.code) || compare(a.message, b.message)
