/**
 * Parses untrusted JSON. The parsed value can take thirty times the memory of its text, so the limit is on the number
 * of values and keys.
 */

/** Limit for a file. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024
const MAX_MARKS = 3_000_000

/** `why` completes a sentence. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly isTooMuch: boolean }

/** Never throws. */
export const parseJson = (text: string): ParsedJson => {
  if (countMarks(text) > MAX_MARKS)
    return { ok: false, why: 'it holds more than 3,000,000 values and keys', isTooMuch: true }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false, why: 'it is not JSON', isTooMuch: false }
  }
}

/** An upper bound, because punctuation inside strings is counted too. */
const countMarks = (text: string): number => {
  let count = 1
  for (const mark of [',', ':', '[', '{']) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) count += 1
  }
  return count
}
