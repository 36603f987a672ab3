/** Event delivery: at least once, in order per project, for up to three days. */

import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { pendingOf } from '../../src/agent/events/kept.ts'
import type { Send } from '../../src/agent/events/webhook.ts'
import { createNotifier, type Notifier, sendTo } from '../../src/agent/index.ts'
import type { ProjectView } from '../../src/model/index.ts'
import { FakeControl, project, START } from './fake-control.ts'
import { VirtualClock } from './virtual-clock.ts'

const KEY = Buffer.from('a key of thirty two bytes, at least')
const BLOCKED = { state: 'Blocked', reason: 'Conflict' } as const
const running: Notifier[] = []

afterEach(async () => {
  for (const notifier of running.splice(0)) await notifier.stop()
})

/** A notifier and a fake agent whose rounds the test determines. */
const agent = (projects: readonly ProjectView[], answer: () => number | Promise<number> = () => 204) => {
  const clock = new VirtualClock(START)
  const control = new FakeControl(projects)
  const lines: string[] = []
  const sent: { readonly subject: string; readonly type: string; readonly id: string }[] = []
  const send: Send = async (body) => {
    const { subject, type, id } = JSON.parse(body)
    sent.push({ subject, type: type.replace('dev.espalier.', ''), id })
    return answer()
  }
  const start = (): Notifier => {
    const notifier = createNotifier({ send, key: KEY, clock, log: (line) => lines.push(line) })
    notifier.start(control)
    running.push(notifier)
    return notifier
  }
  const notifier = start()
  const round = async (shown: ProjectView): Promise<void> => {
    control.show([...control.shown.projects.filter(({ id }) => id !== shown.id), shown])
    await control.keep(shown.id, (kept) => notifier.afterRound(shown, kept, clock.now()))
    notifier.onKept(shown.id)
    control.round({ project: shown.id })
    await clock.advance(0)
  }
  const types = (): readonly string[] => sent.map(({ subject, type }) => `${subject} ${type}`)
  return { clock, control, lines, sent, types, round, start, notifier }
}

test('the event for a condition is sent once the condition has lasted a minute, without waiting for the next round', async () => {
  const { clock, round, types } = agent([])
  await round(project('p-1', BLOCKED))
  await clock.advance(55_000)
  expect(types()).toEqual([])
  await clock.advance(15_000)
  expect(types()).toEqual(['p-1 blocked'])
  await clock.advance(600_000)
  expect(types()).toHaveLength(1)
})

test('the event for a suspension is sent without waiting for the next round', async () => {
  const { clock, control, round, types } = agent([])
  await round(project('p-1'))
  control.show([project('p-1', { state: 'Suspended', message: 'a migration' })])
  await clock.advance(10_000)
  expect(types()).toEqual(['p-1 suspended'])
})

test('an event that the receiver rejects is retried with the same id and increasing waits', async () => {
  let isUp = false
  const { clock, sent, round, lines } = agent([], () => (isUp ? 204 : 503))
  await round(project('p-1', BLOCKED))
  await clock.advance(60 * 60_000)
  const attempts = sent.length
  expect(attempts).toBeGreaterThan(10)
  expect(attempts).toBeLessThan(25)
  isUp = true
  await clock.advance(5 * 60_000)
  expect(sent).toHaveLength(attempts + 1)
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
  expect(lines[0]).toBe('Event blocked for p-1 was not delivered: the receiver returned 503. Will retry in 5 s.')
})

test("a project's events are sent in order, and do not delay those of another project", async () => {
  const refused = new Set(['p-1'])
  const order: string[] = []
  const clock = new VirtualClock(START)
  const control = new FakeControl([project('p-1'), project('p-2')])
  const notifier = createNotifier({
    send: async (body) => {
      const { subject, type } = JSON.parse(body)
      if (refused.has(subject)) return 400
      order.push(`${subject} ${type}`)
      return 200
    },
    key: KEY,
    clock,
    log: () => undefined,
  })
  running.push(notifier)
  const apply = (number: number) => ({ at: new Date(number).toISOString(), version: 'a', done: [], interruptions: 0 })
  for (const id of ['p-1', 'p-2']) {
    const rounds = [project(id, { lastApply: apply(1) }), project(id, { state: 'Suspended', lastApply: apply(1) })]
    for (const shown of rounds) await control.keep(id, (kept) => notifier.afterRound(shown, kept, clock.now()))
    control.show([...control.shown.projects.filter((one) => one.id !== id), project(id, { state: 'Suspended' })])
  }
  notifier.start(control)
  await clock.advance(1)
  expect(order).toEqual(['p-2 dev.espalier.applied', 'p-2 dev.espalier.suspended'])
  refused.clear()
  await clock.advance(10_000)
  expect(order.slice(2)).toEqual(['p-1 dev.espalier.applied', 'p-1 dev.espalier.suspended'])
})

test('undelivered events are delivered after a restart', async () => {
  let isUp = false
  const { clock, sent, round, start, notifier } = agent([], () => (isUp ? 204 : 500))
  await round(project('p-1', BLOCKED))
  await clock.advance(70_000)
  await notifier.stop()
  const before = sent.length
  isUp = true
  start()
  await clock.advance(1)
  expect(sent).toHaveLength(before + 1)
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
})

test('an event that cannot be delivered for three days is dropped and logged', async () => {
  const { clock, control, sent, lines } = agent([project('p-1')], () => 500)
  const almost = { id: 'evt_1', type: 'applied', at: START - 3 * 24 * 60 * 60_000 + 60_000, data: {} }
  await control.keep('p-1', () => ({ conditions: {}, isSuspended: false, isRemoved: false, pending: [almost] }))
  await clock.advance(50_000)
  expect(sent.length).toBeGreaterThan(1)
  expect(pendingOf(control.kept().get('p-1'))).toHaveLength(1)
  await clock.advance(5 * 60_000)
  expect(pendingOf(control.kept().get('p-1'))).toEqual([])
  expect(lines.at(-1)).toContain('was dropped')
})

test('a project that is no longer declared raises one event, after which its state is removed', async () => {
  const { clock, control, round, types } = agent([])
  await round(project('p-1'))
  await round(project('p-2'))
  control.show([project('p-2', { state: 'Invalid' })])
  await clock.advance(30_000)
  expect(types()).toEqual([])
  control.show([project('p-2')])
  await clock.advance(60_000)
  expect(types()).toEqual(['p-1 removed'])
  expect(control.kept().has('p-1')).toBe(false)
})

test('an outage of the service raises one event for the account, and one when it is resolved', async () => {
  const { clock, round, types } = agent([])
  const ids = ['a', 'b', 'c', 'd']
  const all = async (shown: Partial<ProjectView>): Promise<void> => {
    for (const id of ids) await round(project(id, shown))
    await clock.advance(5 * 60_000)
  }
  for (let rounds = 0; rounds < 3; rounds += 1) await all({ state: 'Failing', reason: 'Unreachable' })
  expect(types()).toEqual(['account/default failing'])
  for (let rounds = 0; rounds < 3; rounds += 1) await all({})
  expect(types()).toEqual(['account/default failing', 'account/default resolved'])
})

test('a project whose id is `repository` and the git repository have separate events', async () => {
  const { clock, control, round, types } = agent([])
  const { source } = control.shown
  await round(project('repository', BLOCKED))
  control.show([project('repository', BLOCKED)], { source: { ...source, error: 'no route', errorState: 'Failing' } })
  await clock.advance(3 * 60_000)
  expect(types().toSorted()).toEqual(['repository blocked', 'repository/manifests failing'])
  control.show([], { source })
  await clock.advance(60_000)
  expect(types().at(-1)).toBe('repository removed')
})

test('an event that could not be saved is sent once the data folder can be written again', async () => {
  const { clock, control, round, types, lines } = agent([])
  await round(project('p-1', BLOCKED))
  const keep = control.keep.bind(control)
  control.keep = () => Promise.reject(new Error('no space left'))
  await clock.advance(70_000)
  expect(types()).toEqual([])
  expect(lines[0]).toBe('Events could not be saved: no space left')
  control.keep = keep
  await clock.advance(10_000)
  expect(types()).toEqual(['p-1 blocked'])
})

test('a signature uses wall-clock time, which advances even while the machine sleeps', async () => {
  const clock = Object.assign(new VirtualClock(START), { date: () => START + 8 * 60 * 60_000 })
  const control = new FakeControl([project('p-1', { state: 'Suspended' })])
  const times: (string | undefined)[] = []
  const send: Send = async (_body, headers) => {
    times.push(headers['webhook-timestamp'])
    return 204
  }
  const notifier = createNotifier({ send, key: KEY, clock, log: () => undefined })
  running.push(notifier)
  await control.keep('p-1', (kept) => notifier.afterRound(project('p-1', { state: 'Suspended' }), kept, clock.date()))
  notifier.start(control)
  await clock.advance(1)
  expect(times).toEqual([String(START / 1_000 + 8 * 60 * 60)])
})

test('a receiver gets a signed CloudEvent, redirects are not followed, and the URL is never logged', async () => {
  const seen: { readonly headers: IncomingHttpHeaders; readonly body: string; readonly path: string }[] = []
  let status = 307
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ headers: request.headers, body, path: request.url ?? '' })
    response.writeHead(status, { location: '/elsewhere' }).end('thank you')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/very-secret-token`
  const clock = new VirtualClock(START)
  const control = new FakeControl([project('p-1')])
  const lines: string[] = []
  const notifier = createNotifier({ send: sendTo(url), key: KEY, clock, log: (line) => lines.push(line) })
  running.push(notifier)
  await control.keep('p-1', (kept) => notifier.afterRound(project('p-1', { state: 'Suspended' }), kept, clock.now()))
  control.show([project('p-1', { state: 'Suspended' })])
  notifier.start(control)
  await expect.poll(() => lines.length).toBe(1)
  status = 202
  // The loop sleeps only after it has logged the line.
  await expect
    .poll(async () => {
      await clock.advance(5_000)
      return pendingOf(control.kept().get('p-1')).length
    })
    .toBe(0)
  expect(seen.map(({ path }) => path).every((path) => path === '/hooks/very-secret-token')).toBe(true)
  for (const { headers, body } of seen) {
    expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
    const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', KEY).update(text).digest('base64')}`)
  }
  const [first, last] = [seen[0], seen.at(-1)]
  expect(first?.headers['webhook-id']).toBe(last?.headers['webhook-id'])
  expect(lines.join()).not.toContain('secret')
  server.close()
  server.closeAllConnections()
  // The server is closed.
  await expect(sendTo(url)('{}', {})).rejects.toThrow()
})
