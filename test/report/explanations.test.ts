import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/manifest/index.ts'
import { FAILURE_REASONS, IMPACTS, REASONS } from '../../src/model/index.ts'
import { EXPLANATIONS, explanationText } from '../../src/report/index.ts'
import { LIMITS } from '../../src/report/words/explanations/limits.ts'
import { OF_FAILURE } from '../../src/report/words/explanations/outcomes.ts'
import { PLANNING } from '../../src/report/words/explanations/planning.ts'
import { RUNNING } from '../../src/report/words/explanations/running.ts'
import { SANDBOX } from '../../src/report/words/explanations/sandbox.ts'

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join('src', path), 'utf8'))
  .join('\n')
  // The manifest definition names rules the same way; their codes are in DIAGNOSTIC_CODES.
  .replaceAll(/\$comment: '\w+'/g, '')

test('every code that the program can print is explained, and no other code is', () => {
  const said = new Set([...sources.matchAll(/'([EW]_[A-Z_]+)'/g)].map(([, code = '']) => code))
  const explained = Object.keys({ ...EXPLANATIONS, ...DIAGNOSTIC_CODES })
  expect([...said].filter((code) => !explained.includes(code))).toEqual([])
  const known = new Set<string>([
    ...IMPACTS,
    ...FAILURE_REASONS,
    ...Object.keys(REASONS),
    ...said,
    ...Object.keys(DIAGNOSTIC_CODES),
  ])
  expect(explained.filter((code) => !known.has(code))).toEqual([])
  expect([...known].filter((code) => !explained.includes(code))).toEqual([])
})

test('no code is explained twice, which would hide one of its meanings', () => {
  const tables = [LIMITS, OF_FAILURE, PLANNING, RUNNING, SANDBOX, DIAGNOSTIC_CODES]
  const codes = tables.flatMap((table) => Object.keys(table))
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([])
})

test('docs/codes.md lists every error and warning', () => {
  const said = [...new Set([...sources.matchAll(/'([EW]_[A-Z_]+)'/g)].map(([, code = '']) => code))]
  const page = readFileSync('docs/codes.md', 'utf8')
  expect(said.length).toBeGreaterThan(80)
  const missing = [...said, ...Object.keys(DIAGNOSTIC_CODES)].filter((code) => !page.includes(`\`${code}\``))
  expect(missing).toEqual([])
})

test.each(Object.entries(EXPLANATIONS))('%s is explained by a rule and an example', (code, explanation) => {
  const { rule, example, mistake = '', correction = '' } = explanation
  expect(rule.length).toBeGreaterThan(10)
  expect((example ?? mistake).length).toBeGreaterThan(3)
  expect(mistake === '').toBe(correction === '')
  expect(explanationText(code, explanation).split('\n')[0]).toBe(code)
})
