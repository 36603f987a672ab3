/** The progress of a long read, on a terminal only. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readingLine } from '../../src/cli/terminal/bottom-lines.ts'
import { fakeIo } from '../in-process.ts'
import { screenOf } from '../terminal/screen.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const reading = (isTTY: boolean) => {
  const { io, output } = fakeIo({ cwd: '/', env: { TERM: 'xterm' } })
  Object.assign(io.stderr, { isTTY, columns: 80 })
  const now = () => Date.now()
  const seen = async (): Promise<readonly string[]> => {
    const screen = screenOf(80, 10)
    await screen.write(output.sofar.stderr)
    return screen.lines()
  }
  return { ...readingLine({ ...io, clock: { ...io.clock, now } }), seen, output }
}

test('a read that takes less than a second shows no progress', async () => {
  const { onReading, output } = reading(true)
  onReading({ what: 'projects', done: 0, total: 2 })
  vi.advanceTimersByTime(900)
  onReading({ what: 'projects', done: 2, total: 2 })
  vi.advanceTimersByTime(5_000)
  expect(output.sofar.stderr).toBe('')
})

test('a longer read shows its progress and the remaining rate limit, and then erases the line', async () => {
  const { onReading, onLimit, seen } = reading(true)
  onReading({ what: 'projects', done: 0, total: 400 })
  onLimit({ left: 580, aMinute: 700 })
  onReading({ what: 'projects', done: 40, total: 400 })
  vi.advanceTimersByTime(2_000)
  expect(await seen()).toEqual(['Reading projects 40/400  2 s  about 42 s left  rate limit 580/700 left'])
  onReading({ what: 'projects', done: 400, total: 400 })
  expect(await seen()).toEqual([])
})

test('a failed read erases the line, and a pipe shows no progress at all', async () => {
  const failed = reading(true)
  failed.onReading({ what: 'projects', done: 0, total: 400 })
  vi.advanceTimersByTime(3_000)
  failed.end()
  expect(await failed.seen()).toEqual([])
  const piped = reading(false)
  piped.onReading({ what: 'projects', done: 0, total: 400 })
  vi.advanceTimersByTime(3_000)
  expect(piped.output.sofar.stderr).toBe('')
})
