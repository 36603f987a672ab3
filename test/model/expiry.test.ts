import { expect, test } from 'vitest'
import { expiryReason, expiryWords, secondsToLive } from '../../src/model/index.ts'

const NOW = Date.parse('2026-11-21T21:00:00Z')
const at = (minutes: number) => ({ name: 'preview/x', expiresAt: new Date(NOW + minutes * 60_000).toISOString() })

test('secondsToLive returns the seconds until the expiry, or undefined if it is missing or invalid', () => {
  expect(secondsToLive(at(40), NOW)).toBe(2400)
  expect(secondsToLive(at(-5), NOW)).toBe(0)
  expect(secondsToLive({}, NOW)).toBeUndefined()
  expect(secondsToLive({ expiresAt: 'soon' }, NOW)).toBeUndefined()
})

test.each([
  [0.5, 'expires Sat 21 Nov 21:00 UTC (now)'],
  [40, 'expires Sat 21 Nov 21:40 UTC (in 40 min)'],
  [1260, 'expires Sun 22 Nov 18:00 UTC (in 21 h)'],
  [14_400, 'expires Tue 1 Dec 21:00 UTC (in 10 days)'],
])('a branch with %s minutes to live "%s"', (minutes, words) => {
  expect(expiryWords(at(minutes), NOW)).toBe(words)
})

test.each([
  [40, true, 3600, 'preview/x expires in 40 min'],
  [40, false, 3600, undefined],
  [90, true, 3600, undefined],
  [40, true, 0, undefined],
  [-1, false, 3600, 'preview/x has expired and is about to be deleted'],
])(
  'expiryReason with %s minutes to live, `interrupts: %s` and a limit of %s s is %s',
  (minutes, interrupts, skipSeconds, expected) => {
    expect(expiryReason(at(minutes), { interrupts, now: NOW, skipSeconds })).toBe(expected)
  },
)
