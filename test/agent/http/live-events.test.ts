/** Neither many clients nor slow ones make the event stream use unbounded memory. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { liveEvents } from '../../../src/agent/tell/http/live-events.ts'
import { FakeControl, project } from '../fake-control.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

// promise: endless-connections
test('at most a hundred clients can follow the event stream, and one that disconnects makes room for another', async () => {
  const live = liveEvents(new FakeControl())
  const streams = Array.from({ length: 100 }, () => live.open())
  expect(streams).not.toContain(undefined)
  expect(live.open()).toBeUndefined()
  await streams[0]?.cancel()
  expect(live.open()).toBeDefined()
  live.close()
})

// promise: endless-connections
test('a client that stops reading the event stream is disconnected', async () => {
  const control = new FakeControl([project('p-1')])
  const live = liveEvents(control)
  const reader = live.open()?.getReader()
  for (let round = 0; round < 1_200; round += 1) {
    control.show([project('p-1', { message: String(round) })])
    vi.advanceTimersByTime(1_000)
  }
  let chunks = 0
  while (!(await reader?.read())?.done) chunks += 1
  expect(chunks).toBeLessThan(1_010)
  live.close()
})

test('changes to a project at the same moment are sent as one event', async () => {
  const control = new FakeControl([project('p-1')])
  const live = liveEvents(control)
  const reader = live.open()?.getReader()
  await reader?.read()
  for (const message of ['a', 'b', 'c']) control.show([project('p-1', { message })])
  vi.advanceTimersByTime(1_000)
  const text = new TextDecoder().decode((await reader?.read())?.value)
  expect(text.match(/event: project/g)).toHaveLength(1)
  expect(text).toContain('"message":"c"')
  live.close()
})
