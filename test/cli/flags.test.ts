import { expect, test } from 'vitest'
import { checkNumber, checkPort, durationMs } from '../../src/cli/flags.ts'

test('a duration flag is milliseconds', () => {
  expect(durationMs('operation-timeout', '1m30s')).toBe(90_000)
})

test.each(['10', '0s', 'soon', ''])('%j is no duration', (text) => {
  expect(() => durationMs('operation-timeout', text)).toThrow(/--operation-timeout/)
})

test.each([
  [Number.NaN, true],
  [-1, true],
  [1.5, true],
  [2, false],
  [undefined, false],
])('--max-restarts %s is refused: %s', (value, refused) => {
  const check = () => checkNumber('max-restarts', value, 0)
  if (refused) expect(check).toThrow(/--max-restarts takes a whole number/)
  else expect(check).not.toThrow()
})

test('a port is at most 65535, and 0 is any free one', () => {
  for (const fine of [undefined, 0, 65_535]) expect(() => checkPort('port', fine)).not.toThrow()
  for (const wrong of [-1, 1.5, 65_536]) expect(() => checkPort('port', wrong)).toThrow(/^--port takes/)
})
