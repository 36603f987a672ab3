/** The agent's page: its contents, their order, and its security. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { AGENT_STATES, type AgentReason, type ProjectView } from '../../src/model/index.ts'
import { type AgentPage, agentPage } from '../../src/report/html/index.ts'
import { AGENT_REASON_WORDS, agentGroup, agentStatusWords } from '../../src/report/words/agent.ts'
import { project, viewOf } from '../agent/fake-control.ts'
import { EVERY_STATE } from '../agent/views.ts'
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
  const page = agentPage(rename(viewOf(EVERY_STATE)) as AgentPage, FRAME)
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page).not.toMatch(UNSEEN)
  const tags = page.replace(/<(style|script)>.*?<\/\1>/gs, '').match(/<[a-z][^>]*>/g) ?? []
  expect(tags.filter((tag) => /\son[a-z]+\s*=/.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([])
  for (const [, href = ''] of page.matchAll(/href="([^"]*)"/g))
    expect(href).toMatch(/^(\/|#[\w-]+|\/projects\/[\w%.!~*'()&#;-]+)$/)
  expect(page).not.toMatch(/\sstyle=/)
})

test('the agent page for 1,000 projects is smaller than 1 MB', () => {
  const many = Array.from({ length: 1_000 }, (_, index) =>
    project(`p-${index}`, { name: `service-${index}`, state: index < 50 ? 'Blocked' : 'Synced' }),
  )
  expect(Buffer.byteLength(shown(many))).toBeLessThan(1_000_000)
})
