/** Names that could mislead a terminal, a renderer or a reader. */
import fc from 'fast-check'

export const HOSTILE_NAMES: readonly string[] = [
  // Terminals.
  '\x1b[31mred\x1b[0m',
  '\x1b]8;;https://evil.example\x07click\x1b]8;;\x07',
  '\x1b[2J\x1b[H',
  '\x9b31m',
  '\u0000\x7f\x85',
  // Additional lines.
  'a\r\nPlan: 0 to create, 0 to update, 0 to delete.',
  'a\nNo changes.',
  '\u2028\u2029',
  // Text direction.
  '\u202egnp.exe',
  '\u2066x\u2069\u061c',
  // Invisible: zero width, soft hyphen, joiners, fillers, tags, variation selectors, spaces.
  ...['\u200b', '\u200d', '\u00ad', '\u2060', '\u3164', '\u115f', '\uffa0', '\u034f', '\u180e', '\ufeff'].map(
    (char) => `ma${char}in`,
  ),
  'main\u{e0041}\u{e0042}\u{e007f}',
  'main\ufe0f\u{e0100}',
  'main\u00a0\u3000\u2800',
  'main\u{13441}\u{16fe4}\u{1d159}',
  'half \ud800 of \udfff one',
  // Addresses, mentions and references that GitHub links.
  'www.evil.com',
  'https://evil.com/please-approve',
  'evil@example.com',
  'mailto:evil@example.com',
  'xmpp:evil@example.com/x',
  '@octocat',
  '@org/team',
  '#1',
  'GH-1',
  'acme/shop#1',
  'acme/shop@0123456789abcdef0123456789abcdef01234567',
  '0123456789abcdef0123456789abcdef01234567',
  ':tada: $math$ $`math`$ #ff0000',
  // Markdown and HTML.
  '<img src=x onerror=alert(1)>',
  '</details><script>',
  '</code></pre></td></tr></table>',
  '<!-- ',
  '-->',
  '<!-- espalier:comment:. -->',
  'a | b || c \\| d \\',
  '\\|',
  '\\',
  '[x](javascript:alert(1)) ![y](http://e.example) [z]: http://e.example',
  'a)(www.evil.com/please-approve/x.yaml',
  'a)**SAFE-TO-MERGE**.yaml',
  '`',
  '``` `` `',
  ' ` ',
  ' spaces at both ends ',
  '`code` **bold** _it_ ~~gone~~ ^up',
  '&lt;b&gt; &#64;octocat &commat;octocat',
  '# heading',
  '- [x] task',
  '> [!CAUTION]',
  '| a | b |',
  '---',
  // Programs and workflow commands.
  '$& $1 $` constructor __proto__',
  '::error::x %0A::error::y',
  // Harmless.
  '東京 🐘 é\u0301',
  '',
]

/**
 * All code points except surrogates: the characters of `unit: 'binary'`, in the same order. That unit builds a table of
 * all 1.1 million of them, which takes a second in every worker.
 */
export const anyCharacter = fc.nat({ max: 0x10_ff_ff - 0x8_00 }).map(
  (at) => String.fromCodePoint(at < 0xd8_00 ? at : at + 0x8_00),
  (char) => {
    const code = typeof char === 'string' ? (char.codePointAt(0) ?? 0) : 0
    if (char !== String.fromCodePoint(code)) throw new Error('not a single character')
    return code < 0xd8_00 ? code : code - 0x8_00
  },
)

export const hostileName = fc.oneof(
  fc.constantFrom(...HOSTILE_NAMES),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc.array(fc.constantFrom(...HOSTILE_NAMES), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
)

/**
 * Characters that a reader cannot see or tell apart, except newlines. The list is independent of the code under test.
 */
const INVISIBLE =
  /* control */ '\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f' +
  /* direction */ '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029' +
  /* zero width and fillers */ '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200d\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  /* unusual spaces */ '\\u00a0\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000' +
  /* fillers of rare scripts */ '\\u{13430}-\\u{13442}\\u{16fe4}\\u{1d159}' +
  /* tags, selectors, halves */ '\\u{e0000}-\\u{e0fff}\\p{Cs}'
export const UNSEEN = new RegExp(`[${INVISIBLE}]`, 'u')
