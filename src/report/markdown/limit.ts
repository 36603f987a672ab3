/** Fits text into GitHub's limits. */
export interface Limit {
  readonly most: number
  readonly measure: (text: string) => number
}

const fits = (text: string, { most, measure }: Limit): boolean => measure(text) <= most

/**
 * Returns the first of `forms` that fits; they go from longest to shortest. If none fits, returns `fewer` with as many
 * rows as fit, at most `rows`.
 */
export const fitTo = (
  limit: Limit,
  forms: readonly (() => string)[],
  rows: number,
  fewer: (rows: number) => string,
): string => {
  for (const form of forms) {
    const text = form()
    if (fits(text, limit)) return text
  }
  let [low, high] = [0, rows]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(fewer(middle), limit)) low = middle
    else high = middle - 1
  }
  return fewer(low)
}

/** For terminals and files. */
export const NO_LIMIT: Limit = { most: Number.POSITIVE_INFINITY, measure: () => 0 }

/** Characters of a comment. */
export const COMMENT_LIMIT: Limit = { most: 65_536, measure: (text) => text.length }

const utf8 = new TextEncoder()

/** Bytes of a step summary: GitHub allows 1 MiB, less a margin for line endings. */
export const SUMMARY_LIMIT: Limit = { most: 1024 * 1024 - 16, measure: (text) => utf8.encode(text).length }
