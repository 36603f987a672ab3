/** The agent's page: its contents, their order, and its security. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { AGENT_STATES, type AgentReason, type ProjectView } from '../../src/model/index.ts'
import { type AgentPage, agentPage, agentProjectPage } from '../../src/report/html/index.ts'
import { AGENT_REASON_WORDS, agentGroup, agentStatusName, agentStatusWords } from '../../src/report/words/agent.ts'
import { project, viewOf } from '../agent/fake-control.ts'
import { EVERY_STATE } from '../agent/views.ts'
import { PLAN } from './fixtures.ts'
import { HOSTILE_NAMES, UNSEEN } from './names.ts'
import { textOf } from './page-text.ts'

const FRAME = {
  version: '1.2.3',
  sha256: (text: string): string => createHash('sha256').update(text).digest('base64'),
}
const shown = (projects: readonly ProjectView[], more: Partial<AgentPage> = {}): string =>
  agentPage({ ...viewOf(projects), ...more }, FRAME)

test('the agent page lists projects in every state, starting with those that need attention', async () => {
  await expect(`${textOf(shown(EVERY_STATE))}\n`).toMatchFileSnapshot('golden/agent-page.txt')
})

test.each([
  [[], 'No project is declared'],
  [[project('a')], 'The project is synced'],
  [[project('a'), project('b')], 'All 2 projects are synced'],
  [[project('a'), project('b', { state: 'Scheduled' })], '1 project is waiting'],
  [[project('a', { state: 'Failing' }), project('b', { state: 'Scheduled' })], '1 project is being retried'],
  [[project('a', { state: 'Failing', reason: 'KeyRefused' })], '1 project needs attention'],
  [[project('a', { state: 'OutOfSync', reason: 'DriftUnconfirmed' })], '1 project is waiting'],
] as const)('the agent page shows the worst state of any project in its headline (case %#)', (projects, headline) => {
  expect(shown(projects)).toContain(`<title>${headline} · espalier agent</title>`)
})

test('the agent page does not report a project as healthy before it has been read', () => {
  expect(shown([project('a', { state: 'Unknown', sync: 'Unknown' })])).toContain('1 project is waiting')
  const { source } = viewOf([])
  const unread = textOf(shown([], { source: { kind: 'git', from: source.from, error: 'no route to host' } }))
  expect(unread).toContain('not read yet')
  expect(unread).toContain('The manifests could not be read: no route to host')
})

test('the agent page has a section for each state and a description for each state and reason', () => {
  for (const state of AGENT_STATES) {
    expect(agentGroup({ state })).toBeDefined()
    for (const reason of Object.keys(AGENT_REASON_WORDS) as AgentReason[]) {
      expect(agentStatusWords({ state, reason }).length).toBeGreaterThan(10)
    }
  }
})

test('the agent page shows an account whose refresh interval had to be stretched', () => {
  const accounts = [{ name: 'team', projects: 900, intervalSeconds: 204, isStretched: true, requests: {} }]
  expect(textOf(shown([], { accounts }))).toContain(
    'Account team : 900 projects, refreshed every 3.4 min: a shorter interval would exceed its share of the rate limit.',
  )
})

// promise: agent-names
test('the agent page shows names and messages as plain text and links only to its own pages', () => {
  const nasty = ['<script>alert(1)</script>', '"><svg onload=alert(1)>', '../../evil', ...HOSTILE_NAMES].join(' ')
  const rename = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') {
      return /^(state|reason|kind|impact|origin|.*At|since|until|at)$/.test(key) ? value : `${value}${nasty}`
    }
    if (Array.isArray(value)) return value.map((one) => rename(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rename(one, name)]))
  }
  const hostile = rename(viewOf(EVERY_STATE)) as AgentPage
  const applies = [{ at: 'x', version: nasty, done: [nasty], interruptions: 0 }]
  const history = { applies, page: 1, pages: 1 }
  const [first] = hostile.projects
  if (first === undefined) throw new Error('no project')
  const { source } = hostile
  const hostileSource = { ...source, author: nasty, subject: nasty }
  for (const page of [
    agentPage(hostile, FRAME),
    agentProjectPage({ source: hostileSource, project: first, plan: undefined, history }, FRAME),
  ]) {
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(page).not.toMatch(UNSEEN)
    const tags = page.replace(/<(style|script)>.*?<\/\1>/gs, '').match(/<[a-z][^>]*>/g) ?? []
    expect(tags.filter((tag) => /\son[a-z]+\s*=/.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([])
    for (const [, href = ''] of page.matchAll(/href="([^"]*)"/g))
      expect(href).toMatch(/^(\/|#[\w-]+|\/projects\/[\w%.!~*'()&#;-]+)$/)
    expect(page).not.toMatch(/\sstyle=/)
  }
})

test.each(EVERY_STATE)('the page of $id starts with its state, and shows its command before the plan', (view) => {
  const history = { applies: [], page: 1, pages: 1 }
  const { source } = viewOf([])
  const text = textOf(agentProjectPage({ source, project: view, plan: PLAN, history }, FRAME))
  expect(text).toContain(`${view.name ?? view.id}: ${agentStatusName(view)} · espalier agent`)
  const places = [view.message, view.command, 'What follows is the last plan', 'The agent has not changed']
  const found = places.flatMap((place) => (place === undefined ? [] : [text.indexOf(place)]))
  expect(found).not.toContain(-1)
  expect(found).toEqual(found.toSorted((a, b) => a - b))
})

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
test.each([
  ['https://github.com/acme/db.git', `https://github.com/acme/db/commit/${COMMIT}`],
  ['https://gitlab.com/acme/team/db', `https://gitlab.com/acme/team/db/-/commit/${COMMIT}`],
  ['http://github.com/acme/db.git', undefined],
  ['https://git.example/acme/db.git', undefined],
  ['https://github.com.evil.example/acme/db', undefined],
  ['https://github.com/acme/db"onclick=x', undefined],
  ['git@github.com:acme/db.git', undefined],
])('the page of a project links a commit of %s to %s', (from, href) => {
  const { source } = viewOf([])
  const at = '2026-11-22T00:55:00.000Z'
  const applies = [{ at, version: COMMIT, done: ['update primary on main'], interruptions: 1 }]
  const shownAs = { source: { ...source, from, author: 'Ada <b>', subject: 'Double <main>' } }
  const seen = { ...project('p-1', { name: 'shop' }), now: Date.parse('2026-11-22T01:00:00.000Z') }
  const page = agentProjectPage(
    { ...shownAs, project: seen, plan: undefined, history: { applies, page: 2, pages: 3 } },
    FRAME,
  )
  expect([...page.matchAll(/href="(https:[^"]*)"/g)].map(([, link]) => link)).toEqual(
    href === undefined ? [] : [href, href],
  )
  const text = textOf(page)
  expect(text).toContain('by Ada <b>: Double <main>')
  expect(text).toMatch(/2026-11-22 00:55 UTC \(5m ago\), +0123456789ab *, 1 interruption: update primary on main/)
  expect(page).toContain('href="?page=1"')
  expect(page).toContain('href="?page=3"')
})

test('the agent page lists the projects that fit, a hundred at a time', () => {
  const many = Array.from({ length: 250 }, (_, index) =>
    project(`p-${index}`, { name: `service-${index}`, state: index < 110 ? 'Blocked' : 'Synced' }),
  )
  const rows = (listing: Parameters<typeof agentPage>[2]): number =>
    agentPage(viewOf(many), FRAME, listing).match(/id="p-/g)?.length ?? 0
  expect(rows({ q: '', state: '', page: 1 })).toBe(100)
  expect(rows({ q: '', state: 'Blocked', page: 2 })).toBe(10)
  expect(rows({ q: 'SERVICE-24', state: '', page: 1 })).toBe(11)
  expect(rows({ q: 'p-7', state: 'Synced', page: 99 })).toBe(0)
  const page = agentPage(viewOf(many), FRAME, { q: '"><b>', state: '', page: 1 })
  expect(page).toContain('value="&quot;&gt;&lt;b&gt;"')
  expect(textOf(page)).toContain('No project fits.')
  expect(textOf(page)).toContain('110 projects need attention')
  expect(agentPage(viewOf(many), FRAME, { q: 'a&b', state: '', page: 1 })).not.toContain('q=a&b')
})

test('the agent page for 1,000 projects is smaller than 1 MB', () => {
  const many = Array.from({ length: 1_000 }, (_, index) =>
    project(`p-${index}`, { name: `service-${index}`, state: index < 50 ? 'Blocked' : 'Synced' }),
  )
  expect(Buffer.byteLength(shown(many))).toBeLessThan(1_000_000)
})
