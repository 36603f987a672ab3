import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { jsonPlan } from '../../src/apply/index.ts'
import { plainText } from '../../src/base/index.ts'
import type { Diagnostic } from '../../src/model/index.ts'
import {
  changeAnnotations,
  diagnosticAnnotations,
  eventLine,
  jsonDiagnostics,
  sarifDiagnostics,
  terminalDiagnostics,
  terminalOutcome,
  terminalPlan,
} from '../../src/report/index.ts'
import { runs } from '../long-runs.ts'
import { eventsFor, OUTCOME, PLAN, planWith, WARNING } from './fixtures.ts'
import { HOSTILE_NAMES, hostileName, UNSEEN } from './names.ts'

const PLAIN = { color: false, width: 80 }

const check = <T>(property: fc.IProperty<T>): void => fc.assert(property, { numRuns: runs(200) })

const lines = (text: string): number => text.split('\n').length

// promise: escaped-names
describe('hostile names', () => {
  test('are escaped in a plan', () => {
    check(fc.property(hostileName, (text) => void expect(terminalPlan(planWith(text), PLAIN)).not.toMatch(UNSEEN)))
  })

  test('are escaped in events, each of which remains one line', () => {
    check(
      fc.property(hostileName, (text) => {
        const shown = planWith(text)
          .steps.slice(0, 1)
          .flatMap((step) => eventsFor(step, text))
          .map((event) => eventLine(event, PLAIN) ?? '')
        expect(shown).toHaveLength(6)
        for (const line of shown) {
          expect(line).not.toMatch(UNSEEN)
          expect(line).not.toContain('\n')
        }
      }),
    )
  })

  test('are escaped in an outcome', () => {
    check(
      fc.property(hostileName, (text) => {
        const outcome = {
          ...OUTCOME,
          steps: OUTCOME.steps.map((step) => ({ ...step, message: text })),
          notes: [text],
        }
        expect(terminalOutcome(planWith(text), outcome, PLAIN)).not.toMatch(UNSEEN)
      }),
    )
  })

  test('are escaped in a diagnostic, its file name and its source line', () => {
    check(
      fc.property(hostileName, fc.nat({ max: 60 }), fc.nat({ max: 60 }), (text, column, length) => {
        const source = { file: text, line: 1, column: column + 1, length: length + 1 }
        const diagnostic: Diagnostic = { ...WARNING, message: text, hint: text, source }
        const shown = terminalDiagnostics([diagnostic], PLAIN, () => text.split(/\r?\n/)[0])
        expect(shown).not.toMatch(UNSEEN)
      }),
    )
  })

  test('are escaped in JSON and SARIF, which still parse to the same values', () => {
    check(
      fc.property(hostileName, (text) => {
        const diagnostic: Diagnostic = { ...WARNING, message: text }
        const plan = planWith(text)
        expect(jsonPlan(plan)).not.toMatch(UNSEEN)
        expect(JSON.parse(jsonPlan(plan))).toMatchObject(plan)
        expect(jsonDiagnostics([diagnostic])).not.toMatch(UNSEEN)
        expect(JSON.parse(jsonDiagnostics([diagnostic]))).toMatchObject({ diagnostics: [{ message: text }] })
        expect(sarifDiagnostics([diagnostic], { version: '1' })).not.toMatch(UNSEEN)
      }),
    )
  })

  // promise: lookalike-names
  test('are escaped in annotations, which remain one line', () => {
    check(
      fc.property(hostileName, (text) => {
        const diagnostic: Diagnostic = { ...WARNING, message: text, hint: text }
        const annotations = [...changeAnnotations(planWith(text).changes), ...diagnosticAnnotations([diagnostic])]
        for (const { title, message } of annotations) {
          expect(title + message).not.toMatch(UNSEEN)
          expect(title + message).not.toContain('\n')
        }
      }),
    )
  })

  // promise: forged-lines
  test('do not add lines to a plan', () => {
    const wide = { color: false, width: 100_000 }
    const usual = lines(terminalPlan(planWith('plain'), wide))
    check(
      fc.property(hostileName, (text) => {
        // Nothing wraps at this width, so an additional line comes from the name.
        expect(lines(terminalPlan(planWith(text), wide))).toBe(usual)
      }),
    )
  })

  test('do not include printable ASCII, which is never escaped', () => {
    check(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(plainText(text)).toBe(text)
      }),
    )
  })
})

describe('the terminal width', () => {
  const short = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 })

  test('limits every line of a plan with short names', () => {
    check(
      fc.property(short, fc.integer({ min: 80, max: 160 }), (text, width) => {
        for (const line of terminalPlan(planWith(text), { color: false, width }).split('\n')) {
          expect(stringWidth(line), line).toBeLessThanOrEqual(width)
        }
      }),
    )
  })

  test('limits every line of a diagnostic, wherever the mistake is in a long source line', () => {
    check(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 400 }), (column, length) => {
        const source = { file: 'a.yaml', line: 12, column, length }
        const line = 'key: value 東京, '.repeat(30)
        const shown = terminalDiagnostics([{ ...WARNING, source }], PLAIN, () => line)
        for (const row of shown.split('\n')) expect(stringWidth(row), row).toBeLessThanOrEqual(80)
        expect(shown).toMatch(/\| *\^+$/m)
      }),
    )
  })

  test('does not remove any word of a plan when it is narrow', () => {
    const words = (text: string): string => text.replace(/\s+/g, '')
    const [narrow, wide] = [30, 300].map((width) => words(terminalPlan(PLAN, { color: false, width })))
    expect(narrow).toBe(wide)
  })
})

describe('colours', () => {
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

  test('are printed only if they are enabled', () => {
    for (const text of shown(false)) expect(text).not.toContain('\x1b')
    for (const text of shown(true)) expect(text).toMatch(CODE)
  })

  test('carry no meaning: the words are the same without them', () => {
    const words = (text: string): string => text.replace(CODE, '').replace(/\s+/g, ' ')
    expect(shown(true).map(words)).toEqual(shown(false).map(words))
  })

  test('cannot be changed by a hostile name', () => {
    const codes = (text: string): number =>
      terminalPlan(planWith(text), { color: true, width: 100_000 }).match(CODE)?.length ?? 0
    const usual = codes('plain')
    for (const text of HOSTILE_NAMES) expect(codes(text), JSON.stringify(text)).toBe(usual)
  })
})
