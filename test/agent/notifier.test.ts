/** Which rounds are notified, what an event contains, and how it is delivered: in order, signed, at most once. */

import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { Notifier, notifyKey, sendTo } from '../../src/agent/index.ts'
import { webhookKey } from '../../src/agent/tell/http/git-hook.ts'
import {
  eventData,
  eventHeaders,
  hasNews,
  isNotified,
  type ProjectNews,
  type Send,
} from '../../src/agent/tell/notifier.ts'
import type { AgentStatus, ProjectView } from '../../src/model/index.ts'
import { serve } from '../serve.ts'
import { at, project, START } from './fake-control.ts'
import { EVERY_STATE } from './views.ts'
import { VirtualClock } from './virtual-clock.ts'

const KEY = Buffer.from('a key of thirty two bytes, at least')
const FROM = 'https://git.example/team/computes.git'
const SYNCED: ProjectNews = { previous: { state: 'Synced' } }
const CONFLICT = { state: 'Blocked', reason: 'Conflict' } as const
const APPLIED = {
  at: at(100),
  version: 'abc',
  done: ['update primary on main'],
  interruptions: 1,
  effects: ['primary on main: temp disk 600 → 20 GiB'],
}
const MISSED = { opensAt: at(0), closesAt: at(60), cause: 'agent-down' } as const

describe('what is notified', () => {
  test.each<[AgentStatus, ProjectNews, boolean]>([
    [{ state: 'Synced' }, SYNCED, false],
    [CONFLICT, SYNCED, true],
    [CONFLICT, { previous: CONFLICT }, false],
    [{ state: 'Blocked', reason: 'Policy' }, { previous: CONFLICT }, true],
    [{ state: 'Synced' }, { previous: CONFLICT }, true],
    [{ state: 'Synced' }, { ...SYNCED, applied: APPLIED }, true],
    [{ state: 'Scheduled' }, { previous: { state: 'Scheduled' }, missedWindow: MISSED }, true],
  ])('%j after %j is news: %s', (status, news, expected) => {
    expect(hasNews(status, news)).toBe(expected)
  })

  test.each<AgentStatus>([
    { state: 'Progressing' },
    { state: 'Unknown' },
    { state: 'OutOfSync', reason: 'DriftUnconfirmed' },
  ])('a project that is only passing through $state $reason is not notified', (status) => {
    expect([isNotified(status), hasNews(status, SYNCED)]).toEqual([false, false])
  })
})

describe('what an event contains', () => {
  const [difference] = EVERY_STATE[2]?.differences ?? []
  const drifted = (count: number, more: object = {}): ProjectView =>
    project('p-1', {
      state: 'OutOfSync',
      reason: 'Drift',
      differences: Array.from({ length: count }, () => ({ ...difference, ...more }) as typeof difference & object),
    })

  // promise: event-values
  test('an event names the differing attributes but contains no live or declared values', () => {
    const text = JSON.stringify(eventData(drifted(1, { live: 'secret-live', want: 'secret-want' }), SYNCED))
    expect(text).toContain('autoscaling.maxCu')
    expect(text).not.toContain('secret')
  })

  test('an event names at most 20 differences', () => {
    const { differences, moreDifferences } = eventData(drifted(50), SYNCED)
    expect(differences).toHaveLength(20)
    expect(moreDifferences).toBe(30)
  })

  test('an event describes the state if the project has no message', () => {
    expect(eventData(project('p-1', CONFLICT), SYNCED).message).toBe('the same drift came back after each revert')
  })
})

describe('delivery', () => {
  const deliver = (answer: () => number | Promise<number>) => {
    const clock = new VirtualClock(START)
    const lines: string[] = []
    const sent: { readonly subject: string; readonly id: string; readonly at: number }[] = []
    const send: Send = async (body) => {
      const { subject, id } = JSON.parse(body)
      sent.push({ subject, id, at: clock.now() - START })
      return answer()
    }
    const notifier = new Notifier({ send, key: KEY, clock, log: (line) => lines.push(line) })
    const notify = (id: string): void => notifier.notify(project(id, CONFLICT), SYNCED, FROM)
    return { clock, lines, sent, notifier, notify }
  }

  test('a rejected event is sent again three times with the same id, then given up and logged', async () => {
    const { clock, lines, sent, notify } = deliver(() => 503)
    notify('p-1')
    await clock.advance(60_000)
    expect(sent.map((one) => one.at)).toEqual([0, 1_000, 4_000, 13_000])
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
    expect(lines).toEqual(['The event for p-1 (Blocked) was not delivered: the receiver returned 503.'])
  })

  test('an event is sent once if the receiver accepts it', async () => {
    const { clock, lines, sent, notify } = deliver(() => 204)
    notify('p-1')
    await clock.advance(60_000)
    expect([sent.length, lines]).toEqual([1, []])
  })

  test('events are sent one at a time and in order, also while one is retried', async () => {
    let failures = 2
    const { clock, sent, notify } = deliver(() => (failures-- > 0 ? 500 : 204))
    for (const id of ['p-1', 'p-2', 'p-1']) notify(id)
    await clock.advance(60_000)
    expect(sent.map(({ subject }) => subject)).toEqual(['p-1', 'p-1', 'p-1', 'p-2', 'p-1'])
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3)
  })

  test('more than 1000 waiting events are dropped and logged, so that memory stays bounded', async () => {
    const { lines, notify } = deliver(() => new Promise(() => undefined))
    for (let index = 0; index < 1_001; index += 1) notify(`p-${index}`)
    expect(lines).toEqual(['The event for p-1000 (Blocked) was not delivered: 1000 others are waiting.'])
  })

  test('when the agent ends, it waits for the retries of an event in flight, but not for a receiver that is down', async () => {
    let failures = 3
    const short = deliver(() => (failures-- > 0 ? 500 : 204))
    short.notify('p-1')
    const end = short.notifier.end()
    await short.clock.advance(13_000)
    await end
    expect([short.sent.length, short.lines]).toEqual([4, []])

    const long = deliver(() => 500)
    for (const id of ['p-1', 'p-2', 'p-3']) long.notify(id)
    const ended = long.notifier.end()
    await long.clock.advance(60_000)
    await ended
    expect(long.sent.map(({ subject }) => subject)).not.toContain('p-3')
    expect(long.lines).toHaveLength(3)
  })

  test('a signature uses wall-clock time, which advances even while the machine sleeps', async () => {
    const clock = Object.assign(new VirtualClock(START), { date: () => START + 8 * 60 * 60_000 })
    const times: (string | undefined)[] = []
    const send: Send = async (_body, headers) => {
      times.push(headers['webhook-timestamp'])
      return 204
    }
    new Notifier({ send, key: KEY, clock, log: () => undefined }).notify(project('p-1', CONFLICT), SYNCED, FROM)
    await clock.advance(1)
    expect(times).toEqual([String(START / 1_000 + 8 * 60 * 60)])
  })

  // promise: event-redirect
  test('a receiver gets a signed CloudEvent, redirects are not followed, and the URL is never logged', async () => {
    const seen: { readonly headers: IncomingHttpHeaders; readonly body: string; readonly path: string }[] = []
    const { origin, close } = await serve(async (request, response) => {
      const body = await text(request)
      seen.push({ headers: request.headers, body, path: request.url ?? '' })
      response.writeHead(307, { location: '/elsewhere' }).end('thank you')
    })
    const url = `${origin}/hooks/very-secret-token`
    const clock = new VirtualClock(START)
    const lines: string[] = []
    const notifier = new Notifier({ send: sendTo(url), key: KEY, clock, log: (line) => lines.push(line) })
    notifier.notify(project('p-1', { ...CONFLICT, differences: EVERY_STATE[2]?.differences ?? [] }), SYNCED, FROM)
    await expect
      .poll(async () => {
        await clock.advance(9_000)
        return lines.length
      })
      .toBe(1)
    expect(seen.map(({ path }) => path)).toEqual(Array.from({ length: 4 }, () => '/hooks/very-secret-token'))
    for (const { headers, body } of seen) {
      expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
      const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', KEY).update(text).digest('base64')}`)
    }
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      specversion: '1.0',
      id: seen[0]?.headers['webhook-id'],
      source: 'urn:espalier:agent:https%3A%2F%2Fgit.example%2Fteam%2Fcomputes.git',
      type: 'dev.espalier.state',
      subject: 'p-1',
      time: at(0),
      datacontenttype: 'application/json',
      data: { project: { id: 'p-1' }, account: 'default', ...CONFLICT, previous: { state: 'Synced' } },
    })
    expect(lines.join()).not.toContain('secret')
    await close()
    await expect(sendTo(url)('{}', {})).rejects.toThrow()
  })
})

describe('signatures', () => {
  /** The test vector of the Standard Webhooks reference libraries. */
  // promise: forged-event
  test('an event is signed as specified by Standard Webhooks', () => {
    const key = webhookKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    expect(eventHeaders(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}')).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  test('an event is not signed if there is no secret', () => {
    expect(eventHeaders(undefined, 'evt_1', 1, '{}')).not.toHaveProperty('webhook-signature')
  })

  test.each([
    '',
    'secret',
    'whsec_',
    'whsec_c2hvcnQ=',
    `whsec_${'A'.repeat(200)}`,
    'whsec_not base64 at all, but long enough',
  ])('notifyKey rejects %j, which is not a Standard Webhooks secret', (text) => {
    expect(() => notifyKey(text)).toThrow('--notify-secret-file')
  })

  test.each([
    '',
    'hooks.example',
    'ftp://hooks.example/token-1',
    'file:///token-1',
    'http://hooks.example/token-1',
    'http://169.254.169.254/',
  ])('sendTo rejects the URL %j without repeating it in the message', (url) => {
    expect(() => sendTo(url)).toThrow(/^--notify must be an https URL, or an http URL of this machine\.$/)
  })
})
