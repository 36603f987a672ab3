import type { Source } from '../model/index.ts'

/** By code unit, so that the order is the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By file, then place in it. */
export const compareSource = (a: Source, b: Source): number =>
  compare(a.file, b.file) || a.line - b.line || a.column - b.column
