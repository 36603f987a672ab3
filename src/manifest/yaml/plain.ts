/** Plain values with their positions in the text. */

export type Plain = null | string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

/** Offsets into the text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface Entry extends Stretch {
  /** Position of the key, in a map. */
  readonly key: Stretch | undefined
  /** Source text of a scalar, without quotes. */
  readonly written: string | undefined
}

/** Entries of a map by key, or of a list by index. */
export type Entries = ReadonlyMap<string, Entry> | Entry[]

/** A whole document. */
export interface Content extends Stretch {
  readonly value: Plain
  /** Entries of each map and list in the document. */
  readonly entries: ReadonlyMap<object, Entries>
}

export const isPlainMap = (value: unknown): value is { readonly [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
