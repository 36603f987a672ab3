/** The agent's server, over real HTTP. */
import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { parseListenAddress, serveAgent } from '../../../src/agent/index.ts'
import type { AgentServer } from '../../../src/agent/tell/http/serve-agent.ts'
import { PLAN } from '../../report/fixtures.ts'
import { at, FakeControl, project, START } from '../fake-control.ts'

const TOKEN = 'correct-horse-battery-staple'
const SECRET = 'webhook-secret'
const tokens = { write: { text: TOKEN }, read: { text: 'read-battery-staple' } }
const servers: AgentServer[] = []
const lines: string[] = []

const serve = async (
  control: FakeControl,
  { host = '127.0.0.1', now = () => START, secret = SECRET, publicly = false } = {},
): Promise<AgentServer> => {
  const server = await serveAgent(control, {
    listen: { host, port: 0 },
    ...(publicly ? { listenPublic: { host: '127.0.0.1', port: 0 } } : {}),
    tokens,
    ...(secret === '' ? {} : { webhookSecret: secret }),
    now,
    log: (line) => lines.push(line),
  })
  servers.push(server)
  return { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') }
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  expect(lines.splice(0)).toEqual([])
})

const BEARER = { authorization: `Bearer ${TOKEN}` }
const READ = { authorization: `Bearer ${tokens.read.text}` }
const BASIC = { authorization: `Basic ${Buffer.from(`any:${TOKEN}`).toString('base64')}` }
const READS = [
  '/',
  '/projects/p-1',
  '/api/v1/projects',
  '/api/v1/projects/p-1',
  '/api/v1/projects/p-1/history',
  '/api/v1/events',
  '/metrics',
  '/healthz',
]
const WRITES = [
  ['POST', '/api/v1/projects/p-1/reconcile'],
  ['POST', '/api/v1/reconcile'],
  ['PUT', '/api/v1/projects/p-1/suspension'],
  ['DELETE', '/api/v1/projects/p-1/suspension'],
  ['PUT', '/api/v1/suspension'],
  ['DELETE', '/api/v1/suspension'],
] as const

/** Does not read the body, which may never end. */
const statusOf = async (url: string, init: RequestInit = {}): Promise<number> => {
  const answer = await fetch(url, init)
  await answer.body?.cancel()
  return answer.status
}

const planned = (): FakeControl => {
  const control = new FakeControl([project('p-1'), project('p-2')])
  control.plans.set('p-1', PLAN)
  return control
}

describe('access control', () => {
  test.each(READS)('%s can be read without a token on a loopback address', async (path) => {
    const { url } = await serve(planned())
    expect(await statusOf(`${url}${path}`)).toBe(200)
  })

  // promise: agent-token
  test.each(READS)('%s requires the token on any other address', async (path) => {
    const { url } = await serve(planned(), { host: '0.0.0.0' })
    const refused = await fetch(`${url}${path}`)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('Basic')
    expect(await refused.text()).not.toContain('p-1')
    expect(await statusOf(`${url}${path}`, { headers: { authorization: 'Bearer wrong' } })).toBe(401)
    expect(await statusOf(`${url}${path}`, { headers: BEARER })).toBe(200)
    expect(await statusOf(`${url}${path}`, { headers: BASIC })).toBe(200)
    expect(await statusOf(`${url}${path}`, { headers: READ })).toBe(200)
  })

  // promise: agent-writes-local, agent-forms
  test.each(WRITES)(
    '%s %s requires the token that writes, as a bearer token, on every address',
    async (method, path) => {
      for (const host of ['127.0.0.1', '0.0.0.0']) {
        const control = planned()
        const { url } = await serve(control, { host })
        const body = method === 'PUT' ? JSON.stringify({ for: '1h', reason: 'a migration' }) : null
        for (const headers of [{}, BASIC, READ, { authorization: 'Bearer ' }]) {
          expect(await statusOf(`${url}${path}`, { method, headers, body })).toBe(401)
        }
        expect(control.asked).toEqual([])
        expect(await statusOf(`${url}${path}`, { method, headers: BEARER, body })).toBeLessThan(300)
        expect(control.asked).toHaveLength(1)
      }
    },
  )

  // promise: agent-rebinding
  test.each([
    ['evil.example', 421],
    ['evil.example:7790', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost:7790', 200],
    ['127.0.0.1', 200],
    ['[::1]:7790', 200],
  ])('on a loopback address, a request with the Host header %j returns %i', async (host, status) => {
    const { url } = await serve(planned())
    for (const path of ['/api/v1/projects', '/metrics']) expect(await askedAs(host, `${url}${path}`)).toBe(status)
  })

  // promise: agent-cors
  test('a response never allows another origin to read it', async () => {
    const { url } = await serve(planned())
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await fetch(`${url}/api/v1/projects`, { method, headers: { origin: 'https://evil.example' } })
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      await answer.body?.cancel()
    }
  })

  // promise: agent-headers
  test('every response forbids framing, sniffing and caching, and pages allow only their own scripts', async () => {
    const { url } = await serve(planned())
    for (const path of [...READS, '/nothing']) {
      const { headers, body } = await fetch(`${url}${path}`)
      expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options'), path).toBe('nosniff')
      expect(headers.get('cache-control'), path).toBe('no-store')
      if (!headers.get('content-type')?.startsWith('text/html')) {
        expect(headers.get('content-security-policy'), path).toContain("default-src 'none'")
      }
      await body?.cancel()
    }
    const page = await (await fetch(`${url}/`)).text()
    expect(page).toMatch(
      /Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; base-uri 'none'; form-action 'none'"/,
    )
  })

  // promise: agent-public-address
  test('the public address serves only health, metrics and the git hook', async () => {
    const { publicUrl = '' } = await serve(planned(), { publicly: true })
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(await statusOf(`${publicUrl}${path}`)).toBe(200)
    expect(await statusOf(`${publicUrl}/hooks/git`, { method: 'POST', body: '{}' })).toBe(401)
    for (const path of ['/', '/projects/p-1', '/api/v1/projects', '/api/v1/events']) {
      expect(await statusOf(`${publicUrl}${path}`, { headers: BEARER })).toBe(404)
    }
    for (const [method, path] of WRITES) {
      expect(await statusOf(`${publicUrl}${path}`, { method, headers: BEARER })).toBe(404)
    }
  })
})

/** `fetch` does not allow setting the Host header. */
const askedAs = (host: string, url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end()
  })

describe('the API', () => {
  test('the API returns all projects, or one of them', async () => {
    const control = planned()
    const { url } = await serve(control)
    expect(await (await fetch(`${url}/api/v1/projects`)).json()).toEqual(JSON.parse(JSON.stringify(control.view())))
    expect(await (await fetch(`${url}/api/v1/projects/p-2`)).json()).toMatchObject({ id: 'p-2', state: 'Synced' })
    const missing = await fetch(`${url}/api/v1/projects/p-3`)
    expect(missing.status).toBe(404)
    expect(await missing.json()).toMatchObject({
      error: { message: 'No manifest that the agent reads declares project p-3.' },
    })
    const unknown = await fetch(`${url}/api/v1/nope`)
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ error: { message: 'GET /api/v1/nope is not part of the API.' } })
  })

  test('the API returns the history of a project in pages of 50', async () => {
    const control = planned()
    control.history = Array.from({ length: 120 }, (_, index) => ({
      at: at(-index),
      version: String(index),
      done: [],
      interruptions: 0,
    }))
    const { url } = await serve(control)
    for (const [query, page, first, count] of [
      ['', 1, '0', 50],
      ['?page=3', 3, '100', 20],
      ['?page=99', 3, '100', 20],
      ['?page=-1', 1, '0', 50],
    ] as const) {
      const { applies, ...pages } = (await (await fetch(`${url}/api/v1/projects/p-1/history${query}`)).json()) as {
        applies: { version: string }[]
      }
      expect(pages).toEqual({ page, pages: 3 })
      expect([applies.length, applies[0]?.version]).toEqual([count, first])
    }
    expect(await statusOf(`${url}/api/v1/projects/p-3/history`)).toBe(404)
  })

  test('the API reconciles one project or all of them, and accepts a rewritten history', async () => {
    const control = planned()
    const { url } = await serve(control)
    const post = (path: string, body?: object) =>
      statusOf(`${url}/api/v1${path}/reconcile`, {
        method: 'POST',
        headers: BEARER,
        body: body === undefined ? null : JSON.stringify(body),
      })
    expect(await post('/projects/p-1')).toBe(202)
    expect(await post('', { accept: 'abc' })).toBe(202)
    expect(await post('/projects/p-3')).toBe(404)
    expect(await post('', { now: true })).toBe(400)
    expect(control.asked).toEqual([
      ['reconcile', ['p-1'], undefined],
      ['reconcile', 'all', 'abc'],
    ])
  })

  test('the API suspends a project with a duration and a reason, and resumes it', async () => {
    const control = planned()
    const { url } = await serve(control)
    const put = (body: unknown) =>
      fetch(`${url}/api/v1/projects/p-1/suspension`, { method: 'PUT', headers: BEARER, body: JSON.stringify(body) })
    const answer = await put({ for: '2h', reason: 'a migration' })
    expect(await answer.json()).toEqual({ until: at(7_200) })
    for (const body of [
      { for: '2h' },
      { for: '2h', reason: ' ' },
      { for: 'soon', reason: 'x' },
      { for: '0s', reason: 'x' },
      { for: '31d', reason: 'x' },
      'x',
    ]) {
      const refused = await put(body)
      expect(refused.status).toBe(400)
      expect(await refused.json()).toMatchObject({ error: { code: 'E_USAGE' } })
    }
    const text = await fetch(`${url}/api/v1/suspension`, { method: 'PUT', headers: BEARER, body: 'for 2h' })
    expect(await text.json()).toMatchObject({ error: { message: 'The request body is not JSON.' } })
    await fetch(`${url}/api/v1/suspension`, { method: 'DELETE', headers: BEARER })
    expect(control.asked).toEqual([
      ['suspend', ['p-1'], START + 7_200_000, 'a migration'],
      ['resume', 'all'],
    ])
  })

  // promise: endless-body
  test('the API rejects an oversized body before reading all of it', async () => {
    const { url } = await serve(planned())
    const body = JSON.stringify({ for: '2h', reason: 'x'.repeat(2_000_000) })
    expect(await statusOf(`${url}/api/v1/suspension`, { method: 'PUT', headers: BEARER, body })).toBe(413)
  })

  test('parseListenAddress accepts valid addresses, and its error for an invalid address names the flag', () => {
    expect(parseListenAddress('127.0.0.1:7790', '--listen')).toEqual({ host: '127.0.0.1', port: 7790 })
    expect(parseListenAddress('[::]:80', '--listen')).toEqual({ host: '::', port: 80 })
    for (const text of ['7790', 'host', 'host:', 'host:70000', 'http://host:80', '::1:80']) {
      expect(() => parseListenAddress(text, '--listen')).toThrow('--listen')
    }
  })

  test('listening on an address that is already in use fails with a hint', async () => {
    const { url } = await serve(planned())
    const taken = serveAgent(planned(), {
      listen: parseListenAddress(url.slice('http://'.length), '--listen'),
      tokens,
      now: () => START,
      log: () => undefined,
    })
    await expect(taken).rejects.toMatchObject({ code: 'E_LISTEN', hint: expect.stringContaining('--listen') })
  })
})

describe('live events', () => {
  const reader = async (url: string, headers = {}) => {
    const answer = await fetch(`${url}/api/v1/events`, { headers })
    const chunks = (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    return {
      until: async (part: string): Promise<string> => {
        while (!text.includes(part)) text += (await chunks.read()).value ?? ''
        return text
      },
      rest: async (): Promise<string> => {
        for (let read = await chunks.read(); !read.done; read = await chunks.read()) text += read.value
        return text
      },
      cancel: () => chunks.cancel(),
    }
  }

  test('the stream sends changed projects and the ids of removed ones, and nothing that has not changed', async () => {
    const control = planned()
    const { url } = await serve(control)
    const events = await reader(url)
    control.show([project('p-1', { state: 'Blocked', reason: 'Conflict' })])
    const text = await events.until('event: removed\ndata: {"id":"p-2"}\n\n')
    expect(text).toMatch(/event: project\ndata: {"id":"p-1",.*"reason":"Conflict"/)
    expect(text.match(/event:/g)).toHaveLength(2)
    control.show(control.shown.projects, { tickedAt: at(60) })
    control.show(control.shown.projects, { source: { ...control.shown.source, error: 'no route to host' } })
    const more = await events.until('no route to host')
    expect(more.match(/event: agent/g)).toHaveLength(1)
    await events.cancel()
  })

  // promise: agent-token
  test('a stream that was opened with a replaced token ends, and sends nothing more', async () => {
    const control = planned()
    const { url } = await serve(control, { host: '0.0.0.0' })
    const events = await reader(url, READ)
    const known = tokens.read.text
    tokens.read.text = 'another-token-to-read'
    control.show([project('p-1', { state: 'Blocked' })])
    expect(await events.rest()).toBe('retry: 3000\n\n')
    expect(await statusOf(`${url}/api/v1/projects`, { headers: READ })).toBe(401)
    tokens.read.text = known
  })

  test('closing the server ends the stream and removes its listeners', async () => {
    const control = planned()
    const server = await serve(control)
    const answer = await fetch(`${server.url}/api/v1/events`)
    await server.close()
    await answer.text().catch(() => undefined)
    expect(control.watchers).toBe(0)
    servers.length = 0
  })
})

describe('health', () => {
  test('/healthz returns 503 when the scheduler has stopped, but not when git or the service is down', async () => {
    const control = new FakeControl([project('p-1', { state: 'Failing', reason: 'Unreachable' })])
    control.show(control.shown.projects, { source: { ...control.shown.source, error: 'no route to host' } })
    const { url } = await serve(control)
    control.idleMs = 60_000
    expect(await statusOf(`${url}/healthz`)).toBe(200)
    control.idleMs = 120_000
    expect(await statusOf(`${url}/healthz`)).toBe(503)
  })

  test('/readyz returns 200 once the manifests have been read', async () => {
    const control = new FakeControl()
    const { version: _, ...unread } = control.shown.source
    control.show([], { source: unread })
    const { url } = await serve(control)
    expect(await statusOf(`${url}/readyz`)).toBe(503)
    control.show([], { source: { ...unread, version: 'abc' } })
    expect(await statusOf(`${url}/readyz`)).toBe(200)
  })
})

describe('the git hook', () => {
  const hex = (body: string, secret = SECRET): string => createHmac('sha256', secret).update(body).digest('hex')
  const STANDARD = `whsec_${Buffer.from('a key of thirty two bytes, at least').toString('base64')}`
  const standard = (body: string, timestamp: number): Record<string, string> => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${createHmac('sha256', 'a key of thirty two bytes, at least').update(`msg_1.${timestamp}.${body}`).digest('base64')}`,
  })
  const NOW = START / 1_000

  test.each<[string, Record<string, string>, string?]>([
    ['GitHub', { 'x-hub-signature-256': `sha256=${hex('{"ref":1}')}` }],
    ['Bitbucket', { 'x-hub-signature': `sha256=${hex('{"ref":1}')}` }],
    ['Gitea', { 'x-gitea-signature': hex('{"ref":1}') }],
    ['Forgejo', { 'x-forgejo-signature': hex('{"ref":1}') }],
    ['GitLab with its secret token', { 'x-gitlab-token': SECRET }],
    ['GitLab with a signing token', standard('{"ref":1}', NOW), STANDARD],
  ])('a push signed by %s makes the agent fetch', async (_host, headers, secret = SECRET) => {
    const control = planned()
    const { url } = await serve(control, { secret })
    expect(await statusOf(`${url}/hooks/git`, { method: 'POST', headers, body: '{"ref":1}' })).toBe(204)
    expect(control.asked).toEqual([['fetchSoon']])
  })

  // promise: forged-webhook
  test.each<[string, Record<string, string>, string?]>([
    ['no signature', {}],
    ['the signature of another secret', { 'x-hub-signature-256': `sha256=${hex('{}', 'guess')}` }],
    ['the signature of another body', { 'x-hub-signature-256': `sha256=${hex('{"a":1}')}` }],
    ['a SHA-1 signature', { 'x-hub-signature': `sha1=${createHmac('sha1', SECRET).update('{}').digest('hex')}` }],
    ['a wrong token', { 'x-gitlab-token': 'guess' }],
    ['an old signature', standard('{}', NOW - 3_600), STANDARD],
    ['an invalid timestamp', { ...standard('{}', NOW), 'webhook-timestamp': 'now' }, STANDARD],
    ["only the agent's bearer token", BEARER],
  ])('a push with %s is rejected', async (_what, headers, secret = SECRET) => {
    const control = planned()
    const { url } = await serve(control, { secret })
    expect(await statusOf(`${url}/hooks/git`, { method: 'POST', headers, body: '{}' })).toBe(401)
    expect(control.asked).toEqual([])
  })

  // promise: webhook-content
  test('the content of a signed push is ignored: any bytes make the agent fetch', async () => {
    const control = planned()
    const { url } = await serve(control)
    for (const body of ['', 'not json', '{"ref":"refs/heads/evil","repository":{"url":"ext::sh"}}', '\u0000\uffff']) {
      const headers = { 'x-hub-signature-256': `sha256=${hex(body)}` }
      expect(await statusOf(`${url}/hooks/git`, { method: 'POST', headers, body })).toBe(204)
    }
    expect(control.asked).toEqual([['fetchSoon'], ['fetchSoon'], ['fetchSoon'], ['fetchSoon']])
  })

  // promise: endless-body
  test('a push of more than 25 MiB is rejected', async () => {
    const control = planned()
    const { url } = await serve(control)
    const body = Buffer.alloc(25 * 1024 * 1024 + 1)
    const headers = { 'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` }
    expect(await statusOf(`${url}/hooks/git`, { method: 'POST', headers, body })).toBe(413)
    expect(control.asked).toEqual([])
  })

  // promise: forged-webhook
  test('the git hook returns 404 when no secret is configured', async () => {
    const control = planned()
    const { url } = await serve(control, { secret: '' })
    const headers = { 'x-hub-signature-256': `sha256=${hex('{}', '')}`, 'x-gitlab-token': '' }
    expect(await statusOf(`${url}/hooks/git`, { method: 'POST', headers, body: '{}' })).toBe(404)
    expect(control.asked).toEqual([])
  })
})

test("the page shows the opening time of a window in UTC and in the window's time zone", async () => {
  const [step] = PLAN.steps
  if (step === undefined) throw new Error('no step')
  const windows = [{ days: ['sun' as const], from: '03:00', to: '04:00', timezone: 'Europe/Berlin' }]
  const control = new FakeControl([
    project('p-1', { state: 'Scheduled', scheduledSteps: 1, windowOpensAt: '2026-11-22T02:00:00.000Z' }),
  ])
  control.plans.set('p-1', { ...PLAN, steps: [step, { ...step, windows }] })
  const { url } = await serve(control)
  const page = await (await fetch(`${url}/`)).text()
  expect(page).toContain('2026-11-22 02:00 UTC</time> (in 1h) (Sun 2026-11-22 03:00 in its time zone) for 1 step')
})

// promise: event-errors
test('an internal error is logged, and its details are not sent to the client', async () => {
  const control = planned()
  const { url } = await serve(control)
  control.historyOf = () => {
    throw new Error('a secret place')
  }
  const answer = await fetch(`${url}/projects/p-1`)
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain('secret place')
  expect(lines.splice(0).join()).toContain('GET /projects/p-1: Error: a secret place')
})
