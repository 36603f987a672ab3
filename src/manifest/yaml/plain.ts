/** Plain values, and where in the text they are. */

export type Plain = null | string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

/** Offsets into the text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface Entry extends Stretch {
  /** Of a map: where its key is. */
  readonly key: Stretch | undefined
  /** A scalar as it was written, without quotes. */
  readonly written: string | undefined
}

/** The entries of a map by key, those of a list by index. */
export type Entries = ReadonlyMap<string, Entry> | Entry[]

/** A whole document. */
export interface Content extends Stretch {
  readonly value: Plain
  /** Of each map and list in it. */
  readonly entries: ReadonlyMap<object, Entries>
}
