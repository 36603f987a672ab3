/** The recipes of examples/agent, which post events to Slack or as GitHub issues. */

import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Notifier, notifyKey, sendTo } from '../../src/agent/index.ts'
import type { ProjectNews } from '../../src/agent/tell/notifier.ts'
import type { ProjectView } from '../../src/model/index.ts'
import { quickClock } from '../quick-clock.ts'
import { serve, served } from '../serve.ts'
import { project } from './fake-control.ts'

type Handle = (event: unknown) => unknown

/** The recipes are plain JavaScript, so that they run without a build. */
const recipe = async (name: string): Promise<unknown> => import(`../../examples/agent/${name}.mjs`)
const { receive } = (await recipe('receive')) as {
  receive(options: { secret: string; port: number; handle: Handle; log?: () => void }): Server
}
const { postToSlack } = (await recipe('slack')) as { postToSlack(url: string): Handle }
const { keepIssues } = (await recipe('github-issue')) as {
  keepIssues(options: { token: string; repository: string; api: string }): Handle
}

const SECRET = `whsec_${Buffer.from('a key of thirty two bytes, at least').toString('base64')}`

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: Record<string, unknown>
}

/** A server that stands in for Slack or GitHub. */
const service = async (answer: (asked: Asked) => { readonly status?: number; readonly body?: unknown }) => {
  const asked: Asked[] = []
  const { origin } = await serve(async (request, response) => {
    const { method = '', url: path = '' } = request
    const one = { method, path, body: method === 'GET' ? {} : ((await json(request)) as Asked['body']) }
    asked.push(one)
    const { status = 200, body = {} } = answer(one)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  return { asked, url: origin }
}

/** Sends the events of these rounds as the agent does. */
const sendRounds = async (to: string, rounds: readonly Partial<ProjectView>[]): Promise<void> => {
  const lines: string[] = []
  const notifier = new Notifier({
    send: sendTo(to),
    key: notifyKey(SECRET),
    clock: quickClock(),
    log: (line) => lines.push(line),
  })
  let previous: ProjectNews['previous'] = { state: 'Synced' }
  for (const shown of rounds) {
    const view = project('p-1', { name: 'billing', ...shown })
    notifier.notify(view, { previous, applied: shown.lastApply }, 'https://git.example/team/computes.git')
    previous = view
  }
  await notifier.end()
  expect(lines).toEqual([])
}

const CONFLICT = { state: 'Blocked', reason: 'Conflict', command: 'espalier agent reconcile p-1' } as const

// promise: event-markup
test("the Slack recipe posts the state, the project, what was done and the command, and escapes Slack's markup", async () => {
  let fails = 1
  const slack = await service(() => (fails-- > 0 ? { status: 500 } : {}))
  const { origin: receiver } = await served(
    receive({ secret: SECRET, port: 0, handle: postToSlack(`${slack.url}/hook`), log: () => undefined }),
  )
  const lastApply = { at: '', version: 'a', done: ['update primary on main'], interruptions: 1, effects: [] }
  await sendRounds(receiver, [{ ...CONFLICT, message: '<!channel> <http://evil|ok>' }, { lastApply }])
  const blocked =
    ':no_entry: *billing*: Blocked: Conflict\n&lt;!channel&gt; &lt;http://evil|ok&gt;\n```espalier agent reconcile p-1```'
  expect(slack.asked.map(({ body }) => body.text)).toEqual([
    blocked,
    // The recipe failed the first time, so the event was sent again.
    blocked,
    ':white_check_mark: *billing*: Synced\nthe live project matches the manifests\n• update primary on main',
  ])
})

test('the GitHub recipe opens an issue for a project that needs attention, keeps it up to date, and closes it', async () => {
  const issues: { number: number; state: string; body: string; title: string }[] = []
  const github = await service(({ method, path, body }) => {
    if (method === 'GET') return { body: issues.filter(({ state }) => state === 'open') }
    if (method === 'POST') {
      issues.push({ number: issues.length + 1, state: 'open', body: String(body.body), title: String(body.title) })
      return { status: 201 }
    }
    const issue = issues[Number(path.split('/').at(-1)) - 1]
    if (issue !== undefined) Object.assign(issue, body)
    return {}
  })
  const handle = keepIssues({ token: 'token', repository: 'team/computes', api: github.url })
  const { origin: receiver } = await served(receive({ secret: SECRET, port: 0, handle }))
  await sendRounds(receiver, [CONFLICT, { state: 'Suspended' }])
  expect(issues).toMatchObject([{ title: 'billing: Blocked: Conflict', state: 'open' }])
  expect(issues[0]?.body).toContain('espalier agent reconcile p-1')
  await sendRounds(receiver, [{ state: 'Failing', message: '@octocat #1 ``` <b>' }])
  expect(issues).toMatchObject([{ title: 'billing: Failing', state: 'open' }])
  expect(issues[0]?.body).toContain("```text\n@octocat #1 ''' <b>\n```")
  await sendRounds(receiver, [{}])
  expect(issues.map(({ state }) => state)).toEqual(['closed'])
})

// promise: forged-event
test('the receiver rejects a request that the agent did not sign', async () => {
  const handled: unknown[] = []
  const { origin, port } = await served(
    receive({ secret: SECRET, port: 0, handle: (event: unknown) => handled.push(event), log: () => undefined }),
  )
  for (const headers of [{}, { 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }]) {
    expect((await fetch(origin, { method: 'POST', headers, body: '{}' })).status).toBe(401)
  }
  expect(handled).toEqual([])
  // A client that is killed in the middle of a request, which must not end the receiver.
  const half = connect(port, '127.0.0.1')
  half.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n')
  await once(half, 'data')
  half.resetAndDestroy()
  expect((await fetch(origin, { method: 'POST', body: '{}' })).status).toBe(401)
})
