import { expect, test } from 'vitest'
import { clip, fitting } from '../../src/report/terminal/style.ts'

test('a line of a million characters is cut without measuring all of it', { timeout: 10_000 }, () => {
  const line = '['.repeat(1_000_000)
  expect(fitting(line, 80)).toBe('['.repeat(80))
  expect(clip(line, 80)).toBe(`${'['.repeat(79)}…`)
})
