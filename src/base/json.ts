/** JSON with sorted keys, so equal values give equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, sortKeys)

const sortKeys = (_key: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value

/** A leaf in which two JSON values differ. A side without that leaf is `undefined`. */
export interface Difference {
  /** For example `changes[0].impact`; empty if the values themselves are leaves. */
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** The leaves in which two JSON values differ. A missing key equals `undefined`. */
export const differences = (before: unknown, after: unknown, path = ''): readonly Difference[] => {
  if (Object.is(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) =>
      differences(before[index], after[index], `${path}[${index}]`),
    ).flat()
  }
  if (isRecord(before) && isRecord(after)) {
    return Object.keys({ ...before, ...after }).flatMap((key) =>
      differences(ownOf(before, key), ownOf(after, key), path === '' ? key : `${path}.${key}`),
    )
  }
  return [{ path, before, after }]
}

/** Whether the value is an object, but not a list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const ownOf = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Limit for a file. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024
const MAX_MARKS = 3_000_000

/** `why` completes a sentence. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly isTooMuch: boolean }

/**
 * Parses untrusted JSON. The parsed value can take thirty times the memory of its text, so the limit is on the number
 * of values and keys. Never throws.
 */
export const parseJson = (text: string): ParsedJson => {
  if (text.length > MAX_MARKS && countMarks(text) > MAX_MARKS)
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
