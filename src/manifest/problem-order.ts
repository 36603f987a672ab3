/** Sorts problems and removes duplicates. */
import { compare } from '../base/index.ts'
import type { Diagnostic, Source } from '../model/index.ts'

/** Sorts by file, line and column. Problems without a position come first. */
export const byPlace = (a: Diagnostic, b: Diagnostic): number =>
  comparePlaces(a.source, b.source) || compare(a.code, b.code) || compare(a.message, b.message)

/**
 * Whether the problem differs from the one before it. Shared files and targets of aliases may be read more than once.
 */
export const isNew = (diagnostic: Diagnostic, index: number, sorted: readonly Diagnostic[]): boolean => {
  const before = sorted[index - 1]
  return before === undefined || byPlace(before, diagnostic) !== 0
}

export const comparePlaces = (a: Source | undefined, b: Source | undefined): number => {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column
}
