/** Messages while the control API does not respond. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { apiWatch } from '../../src/cli/setup/connect.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const watch = () => {
  const lines: string[] = []
  return { lines, watch: apiWatch((line) => lines.push(line), { now: () => Date.now() }) }
}

test('nothing is printed for a request that is answered within four seconds', () => {
  const { lines, watch: api } = watch()
  const end = api.begin('GET /projects')
  vi.advanceTimersByTime(3_900)
  end()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
})

test('a request without an answer is reported within five seconds', () => {
  const { lines, watch: api } = watch()
  api.begin('GET /projects')
  vi.advanceTimersByTime(5_000)
  expect(lines).toEqual(['Waiting for the control API to answer GET /projects.'])
})

test('a request that keeps failing is reported within five seconds, with the latest reason, and not on every retry', () => {
  const { lines, watch: api } = watch()
  for (let turn = 0; turn < 10; turn += 1) {
    api.begin('GET /projects')(`ECONNREFUSED ${turn}`)
    vi.advanceTimersByTime(1_000)
  }
  expect(lines).toEqual(['Retrying GET /projects: ECONNREFUSED 1'])
})

test('nothing is printed for a request that fails once and then succeeds', () => {
  const { lines, watch: api } = watch()
  api.begin('GET /projects')('it answers with status 503')
  vi.advanceTimersByTime(1_000)
  api.begin('GET /projects')()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
})

test('nothing is printed after the run has ended', () => {
  const { lines, watch: api } = watch()
  api.begin('GET /projects')('ECONNREFUSED')
  api.end()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
})

test('a reported failure cannot move the cursor', () => {
  const { lines, watch: api } = watch()
  api.begin('GET /projects')('\u001b[2Jgone')
  vi.advanceTimersByTime(2_000)
  expect(lines.join('')).not.toContain('\u001b')
})
