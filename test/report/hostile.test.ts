import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { jsonPlan } from '../../src/apply/index.ts'
import type { Diagnostic } from '../../src/model/index.ts'
import {
  eventLine,
  jsonDiagnostics,
  markdownPlan,
  plainText,
  sarifDiagnostics,
  terminalDiagnostics,
  terminalOutcome,
  terminalPlan,
} from '../../src/report/index.ts'
import { eventsFor, OUTCOME, PLAN, planWith, WARNING } from './fixtures.ts'

const PLAIN = { color: false, width: 80 }

/** All that a terminal or a reader's eye could be turned around by; a line's end is ours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const RAW = /[\x00-\x09\x0b-\x1f\x7f-\x9f\p{Bidi_Control}\u2028\u2029\ufeff]/u

const NASTY = [
  '\x1b[31mred\x1b[0m',
  '\x1b]8;;https://evil.example\x07click\x1b]8;;\x07',
  '\x1b[2J\x1b[H',
  'a\r\nPlan: 0 to add, 0 to change, 0 to destroy.',
  'a\nNo changes.',
  '\x9b31m',
  '\u202egnp.exe',
  '\u2066x\u2069',
  '\u2028\u2029\ufeff\u0000\x7f',
  '<img src=x onerror=alert(1)>',
  '</details><script>',
  '<!-- ',
  '@octocat @org/team',
  'a | b || c \\| d \\',
  '[x](javascript:alert(1)) ![y](http://e.example)',
  '`code` **bold** ~~gone~~ $math$ ^up',
  '&lt;b&gt; &#64;octocat',
  'https://evil.example/x www.evil.example',
  '#123 GH-1 org/repo#2',
  '$& $1 $` constructor __proto__',
  '東京 🐘 é\u0301',
  '',
]

const name = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc.array(fc.constantFrom(...NASTY), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
)

const lines = (text: string): number => text.split('\n').length

describe('no name turns the terminal around', () => {
  test('in a plan', () => {
    fc.assert(fc.property(name, (text) => void expect(terminalPlan(planWith(text), PLAIN)).not.toMatch(RAW)))
  })

  test('in events, each of which stays one line', () => {
    fc.assert(
      fc.property(name, (text) => {
        const shown = planWith(text)
          .steps.slice(0, 1)
          .flatMap((step) => eventsFor(step, text))
          .map((event) => eventLine(event, PLAIN) ?? '')
        expect(shown).toHaveLength(6)
        for (const line of shown) {
          expect(line).not.toMatch(RAW)
          expect(line).not.toContain('\n')
        }
      }),
    )
  })

  test('in an outcome', () => {
    fc.assert(
      fc.property(name, (text) => {
        const outcome = {
          ...OUTCOME,
          steps: OUTCOME.steps.map((step) => ({ ...step, message: text })),
          notes: [text],
        }
        expect(terminalOutcome(planWith(text), outcome, PLAIN)).not.toMatch(RAW)
      }),
    )
  })

  test('in a problem, its file, and the line that it shows', () => {
    fc.assert(
      fc.property(name, fc.nat({ max: 60 }), fc.nat({ max: 60 }), (text, column, length) => {
        const source = { file: text, line: 1, column: column + 1, length: length + 1 }
        const diagnostic: Diagnostic = { ...WARNING, message: text, hint: text, source }
        const shown = terminalDiagnostics([diagnostic], PLAIN, () => text.split(/\r?\n/)[0])
        expect(shown).not.toMatch(RAW)
      }),
    )
  })

  test('in JSON and SARIF, which still say the same', () => {
    fc.assert(
      fc.property(name, (text) => {
        const diagnostic: Diagnostic = { ...WARNING, message: text }
        const plan = planWith(text)
        expect(jsonPlan(plan)).not.toMatch(RAW)
        expect(JSON.parse(jsonPlan(plan))).toMatchObject(plan)
        expect(jsonDiagnostics([diagnostic])).not.toMatch(RAW)
        expect(JSON.parse(jsonDiagnostics([diagnostic]))).toMatchObject({ diagnostics: [{ message: text }] })
        expect(sarifDiagnostics([diagnostic], { version: '1' })).not.toMatch(RAW)
      }),
    )
  })

  test('nor makes lines of its own: a plan has as many as with a plain name', () => {
    const wide = { color: false, width: 100_000 }
    const usual = lines(terminalPlan(planWith('plain'), wide))
    fc.assert(
      fc.property(name, (text) => {
        // Wrapping is off at this width for plain text, so a line more is a line that the name made.
        expect(lines(terminalPlan(planWith(text), wide))).toBe(usual)
      }),
    )
  })

  test('text without such characters is left as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(plainText(text)).toBe(text)
      }),
    )
  })
})

describe('no name makes Markdown', () => {
  /** What the renderer itself writes. */
  const OWN_TAGS = /<br>|<details><summary>|<\/summary>|<\/details>/g
  const usual = markdownPlan(planWith('plain'))
  const ownTags = usual.match(OWN_TAGS)?.length

  test('no tag, no comment, no mention, no link, no code', () => {
    fc.assert(
      fc.property(name, (text) => {
        const markdown = markdownPlan(planWith(text))
        expect(markdown).not.toMatch(RAW)
        expect(markdown.replace(OWN_TAGS, '')).not.toContain('<')
        expect(markdown.match(OWN_TAGS)).toHaveLength(ownTags ?? 0)
        expect(markdown).not.toContain('@')
        expect(markdown).not.toMatch(/(?<!\\)[[\]]/)
        expect(markdown).not.toContain('://')
      }),
    )
  })

  test('no entity: an ampersand is one that was written here', () => {
    fc.assert(
      fc.property(name, (text) => {
        const left = markdownPlan(planWith(text)).replace(/&(?:amp|lt|gt|#64|#58|#47);/g, '')
        expect(left).not.toContain('&')
      }),
    )
    expect(markdownPlan(planWith('&#64;octocat'))).toContain('&amp;\\#64;octocat')
  })

  test('no cell: every row of a table has five', () => {
    fc.assert(
      fc.property(name, (text) => {
        const rows = markdownPlan(planWith(text))
          .split('\n')
          .filter((line) => line.startsWith('|'))
        expect(rows).toHaveLength(usual.split('\n').filter((line) => line.startsWith('|')).length)
        // A pipe parts cells unless an odd number of backslashes stands before it.
        for (const row of rows) expect(row.match(/(?<!\\)(?:\\\\)*\|/g)).toHaveLength(6)
      }),
    )
  })

  test('no line', () => {
    fc.assert(fc.property(name, (text) => void expect(lines(markdownPlan(planWith(text)))).toBe(lines(usual))))
  })
})

describe('width', () => {
  const short = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 })

  test('no line of a plan is wider than the terminal when names are short', () => {
    fc.assert(
      fc.property(short, fc.integer({ min: 80, max: 160 }), (text, width) => {
        for (const line of terminalPlan(planWith(text), { color: false, width }).split('\n')) {
          expect(stringWidth(line), line).toBeLessThanOrEqual(width)
        }
      }),
    )
  })

  test('nor of a problem, wherever in a long line it lies', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 400 }), (column, length) => {
        const source = { file: 'a.yaml', line: 12, column, length }
        const line = 'key: value 東京, '.repeat(30)
        const shown = terminalDiagnostics([{ ...WARNING, source }], PLAIN, () => line)
        for (const row of shown.split('\n')) expect(stringWidth(row), row).toBeLessThanOrEqual(80)
        expect(shown).toMatch(/\| *\^+$/m)
      }),
    )
  })

  test('a narrow terminal loses nothing', () => {
    const words = (text: string): string => text.replace(/\s+/g, '')
    const [narrow, wide] = [30, 300].map((width) => words(terminalPlan(PLAN, { color: false, width })))
    expect(narrow).toBe(wide)
  })
})

describe('colour', () => {
  const shown = (color: boolean): readonly string[] => {
    const style = { color, width: 80 }
    return [
      terminalPlan(PLAN, style, { takenAt: '2026-11-20T10:00:00Z' }),
      terminalOutcome(PLAN, OUTCOME, style),
      terminalDiagnostics([WARNING], style, () => '  - match: preview/*'),
      ...PLAN.steps.slice(2, 3).map((step) => eventLine({ time: '', type: 'step-start', step }, style) ?? ''),
    ]
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with one
  const CODE = /\x1b\[\d+m/g

  test('is there when asked for, and not otherwise', () => {
    for (const text of shown(false)) expect(text).not.toContain('\x1b')
    for (const text of shown(true)) expect(text).toMatch(CODE)
  })

  test('carries no meaning: without it the words are the same', () => {
    const words = (text: string): string => text.replace(CODE, '').replace(/\s+/g, ' ')
    expect(shown(true).map(words)).toEqual(shown(false).map(words))
  })

  test('a hostile name adds no code to a coloured plan', () => {
    const codes = (text: string): number =>
      terminalPlan(planWith(text), { color: true, width: 100_000 }).match(CODE)?.length ?? 0
    const usual = codes('plain')
    for (const text of NASTY) expect(codes(text), JSON.stringify(text)).toBe(usual)
  })
})
