/**
 * Text of unknown origin (names, messages of the service), safe to show: control characters, terminal escape sequences
 * and characters that turn the direction of writing are spelt out.
 */
export const plainText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })

/** JSON leaves what turns a terminal or a line around as it is; escaped, it is the same text. */
export const plainJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).replace(
    /[\x7f-\x9f\p{Bidi_Control}\u2028\u2029\ufeff]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
