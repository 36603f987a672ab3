/** The line about a read of many projects. */
import { expect, test } from 'vitest'
import { type ReadingView, readingLine } from '../../src/report/index.ts'

const view = (more: Partial<ReadingView>): string =>
  readingLine({ what: 'projects', done: 0, total: 400, elapsedMs: 0, width: 80, ...more })

test.each<[what: string, more: Partial<ReadingView>, line: string]>([
  ['at first nothing is known of the pace', {}, 'Reading projects 0/400  0 s'],
  ['at the pace so far', { done: 100, elapsedMs: 10_000 }, 'Reading projects 100/400  10 s  about 30 s left'],
  [
    'within the limit the pace counts',
    { done: 100, elapsedMs: 10_000, total: 120, limit: { left: 400, aMinute: 700 } },
    'Reading projects 100/120  10 s  about 2 s left  rate limit 400/700 left',
  ],
  [
    'beyond the limit it counts how long that lets nothing through',
    { done: 100, elapsedMs: 10_000, total: 800, limit: { left: 400, aMinute: 700 } },
    'Reading projects 100/800  10 s  about 2 min 25 s left  rate limit 400/700 left',
  ],
  ['no wider than the terminal', { done: 1, elapsedMs: 1_000, width: 30 }, 'Reading projects 1/400  1 s …'],
])('%s', (_what, more, line) => {
  expect(view(more)).toBe(line)
})
