/** Makes untrusted text, such as names, paths and messages from the service, safe to display. */

/**
 * Characters that are invisible or change the text direction: bidi controls, everything that Unicode calls ignorable
 * (zero width, joiners, variation selectors, fillers, tags), other fillers, unusual spaces, and lone surrogates. ASCII
 * control characters are not included, because JSON and YAML escape them anyway.
 */
const UNSEEN = String.raw`\x7f-\x9f\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\ufff9-\ufffb\u{13430}-\u{13442}\u{16fe4}\u{1d159}\p{Cs}`
const INVISIBLE = new RegExp(`[${UNSEEN}]`, 'gu')
const INVISIBLE_OR_CONTROL = new RegExp(String.raw`[\x00-\x1f${UNSEEN}]`, 'gu')

/** Writes invisible and control characters as `\u{200b}`, so that different names look different. */
export const plainText = (text: string): string =>
  // Nearly every text is printable ASCII, which is several times faster to recognize.
  /^[ -~]*$/.test(text)
    ? text
    : text.replace(INVISIBLE_OR_CONTROL, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

/** Quotes a word for a POSIX shell, if it needs quotes. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

export const hasInvisible = (text: string): boolean => text.search(INVISIBLE) >= 0

/** Replaces each invisible character with `spell` of its code point, for formats with their own escapes. */
export const escapeInvisible = (text: string, spell: (code: number) => string): string =>
  text.replace(INVISIBLE, (char) => spell(char.codePointAt(0) ?? 0))

/** JSON with invisible characters escaped. It parses to the same value. */
export const plainJson = (value: unknown, indent = 0): string =>
  escapeInvisible(JSON.stringify(value, null, indent), (code) =>
    // One escape per code unit: JSON has none for code points above U+FFFF.
    Array.from(String.fromCodePoint(code).split(''), (half) => `\\u${hex(half.charCodeAt(0), 4)}`).join(''),
  )

export const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

/** Encodes a path for a URL. Also encodes characters that could end or start a link in Markdown. */
export const encodePath = (path: string): string =>
  path
    .replace(/\p{Cs}/gu, '\ufffd')
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*~]/g, (char) => `%${hex(char.charCodeAt(0), 2).toUpperCase()}`),
    )
    .join('/')

/** Escapes every string in the value, but no keys. Copies only what changes, because the plan of a fleet is large. */
export const plainValue = <T>(value: T): T => {
  if (typeof value === 'string') return plainText(value) as T
  if (typeof value !== 'object' || value === null) return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const one: unknown = (value as Record<string, unknown>)[key]
    const plain = plainValue(one)
    if (plain === one) continue
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    copy[key] = plain
  }
  return (copy ?? value) as T
}
