/** JSON of unknown origin. A value takes up to thirty times its text, so it is values and keys that are counted. */

/** Of a file. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024
const MAX_MARKS = 3_000_000

/** Why it is not parsed is the end of a sentence. */
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

/** At most so many there are: what is in a text is counted as well. */
const countMarks = (text: string): number => {
  let count = 1
  for (const mark of [',', ':', '[', '{']) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) count += 1
  }
  return count
}
