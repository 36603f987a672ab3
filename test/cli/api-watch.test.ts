/** What is said while the control API does not answer. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { apiWatch } from '../../src/cli/api-watch.ts'

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

test('an answer in time is nothing to speak of', () => {
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

test('one that fails again and again is reported within five seconds, with the latest reason, and not at every turn', () => {
  const { lines, watch: api } = watch()
  for (let turn = 0; turn < 10; turn += 1) {
    api.begin('GET /projects')(`ECONNREFUSED ${turn}`)
    vi.advanceTimersByTime(1_000)
  }
  expect(lines).toEqual(['Retrying GET /projects: ECONNREFUSED 1'])
})

test('one that soon succeeds is not', () => {
  const { lines, watch: api } = watch()
  api.begin('GET /projects')('it answers with status 503')
  vi.advanceTimersByTime(1_000)
  api.begin('GET /projects')()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
})

test('its text cannot move the cursor', () => {
  const { lines, watch: api } = watch()
  api.begin('GET /projects')('\u001b[2Jgone')
  vi.advanceTimersByTime(2_000)
  expect(lines.join('')).not.toContain('\u001b')
})
