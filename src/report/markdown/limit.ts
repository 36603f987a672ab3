/** How much GitHub takes. */
export interface Limit {
  readonly most: number
  readonly measure: (text: string) => number
}

export const fits = (text: string, { most, measure }: Limit): boolean => measure(text) <= most

/** Characters of a comment. */
export const COMMENT_LIMIT: Limit = { most: 65_536, measure: (text) => text.length }

const utf8 = new TextEncoder()

/** Bytes of a step's summary: 1 MiB (docs of GitHub Actions), less what the file's own line end takes. */
export const SUMMARY_LIMIT: Limit = { most: 1024 * 1024 - 16, measure: (text) => utf8.encode(text).length }
