/** Shortens text to fit GitHub's limits. */
export interface Limit {
  readonly most: number
  readonly measure: (text: string) => number
}

const fits = (text: string, { most, measure }: Limit): boolean => measure(text) <= most

/**
 * Returns the first of `forms` that fits. They are sorted from longest to shortest. If none fits, returns the result of
 * `fewer` with as many rows as fit, but at most `rows`.
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

/** No limit, for terminals and files. */
export const NO_LIMIT: Limit = { most: Number.POSITIVE_INFINITY, measure: () => 0 }

/** The maximum length of a comment, in characters. */
export const COMMENT_LIMIT: Limit = { most: 65_536, measure: (text) => text.length }

const utf8 = new TextEncoder()

/** The maximum size of a step summary, in bytes: the 1 MiB that GitHub allows, minus a margin for line endings. */
export const SUMMARY_LIMIT: Limit = { most: 1024 * 1024 - 16, measure: (text) => utf8.encode(text).length }
