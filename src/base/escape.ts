/** Text of unknown origin (names, paths, messages of the service), made safe to show. */

/**
 * What is drawn as nothing, or turns what is drawn around: characters of direction, everything that Unicode calls
 * ignorable (zero width, joiners, variation selectors, fillers, tags), spaces that pass for a space, and halves of a
 * character. Control characters of ASCII are left out: JSON and YAML escape them by themselves.
 */
const UNSEEN = String.raw`\x7f-\x9f\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\ufff9-\ufffb\p{Cs}`
const INVISIBLE = new RegExp(`[${UNSEEN}]`, 'gu')
const INVISIBLE_OR_CONTROL = new RegExp(String.raw`[\x00-\x1f${UNSEEN}]`, 'gu')

/** Each such character as `\u{200b}`, so that two names that differ look different. */
export const plainText = (text: string): string =>
  // Nearly every text is printable ASCII, which is several times faster to recognize.
  /^[ -~]*$/.test(text)
    ? text
    : text.replace(INVISIBLE_OR_CONTROL, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

export const hasInvisible = (text: string): boolean => text.search(INVISIBLE) >= 0

/** With each invisible character as `spell` writes its code point, in a format with its own escapes. */
export const escapeInvisible = (text: string, spell: (code: number) => string): string =>
  text.replace(INVISIBLE, (char) => spell(char.codePointAt(0) ?? 0))

/** JSON leaves invisible characters as they are; escaped, it is the same value. */
export const plainJson = (value: unknown, indent = 0): string =>
  escapeInvisible(JSON.stringify(value, null, indent), (code) =>
    // Half by half: JSON has no escape for a code point above U+FFFF.
    Array.from(String.fromCodePoint(code).split(''), (half) => `\\u${hex(half.charCodeAt(0), 4)}`).join(''),
  )

export const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

/** A path in an address. What `encodeURIComponent` leaves alone could end a link in Markdown, or begin one. */
export const encodePath = (path: string): string =>
  path
    .replace(/\p{Cs}/gu, '\ufffd')
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*~]/g, (char) => `%${hex(char.charCodeAt(0), 2).toUpperCase()}`),
    )
    .join('/')
