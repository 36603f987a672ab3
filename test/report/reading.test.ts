/** The progress line while many projects are read. */
import { expect, test } from 'vitest'
import { type ReadingView, readingLine } from '../../src/report/index.ts'

const view = (more: Partial<ReadingView>): string =>
  readingLine({ what: 'projects', done: 0, total: 400, elapsedMs: 0, width: 80, ...more })

test.each<[what: string, more: Partial<ReadingView>, line: string]>([
  ['shows no estimate before anything has been read', {}, 'Reading projects 0/400  0 s'],
  [
    'estimates the time left from the pace so far',
    { done: 100, elapsedMs: 10_000 },
    'Reading projects 100/400  10 s  about 30 s left',
  ],
  [
    'ignores a rate limit that is sufficient',
    { done: 100, elapsedMs: 10_000, total: 120, limit: { left: 400, aMinute: 700 } },
    'Reading projects 100/120  10 s  about 2 s left  rate limit 400/700 left',
  ],
  [
    'adds the time during which the rate limit allows no requests',
    { done: 100, elapsedMs: 10_000, total: 800, limit: { left: 400, aMinute: 700 } },
    'Reading projects 100/800  10 s  about 2 min 25 s left  rate limit 400/700 left',
  ],
  ['is never wider than the terminal', { done: 1, elapsedMs: 1_000, width: 30 }, 'Reading projects 1/400  1 s …'],
])('the progress line %s', (_what, more, line) => {
  expect(view(more)).toBe(line)
})
