/** What a commit removes from the manifests: the agent lists it wherever it says that a project is in sync. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { AgentPolicy } from '../../src/agent/decide/table.ts'
import { gitSource } from '../../src/agent/index.ts'
import { eventData } from '../../src/agent/tell/notifier.ts'
import { agentProjectPage } from '../../src/report/html/index.ts'
import { agentProjectDetail } from '../../src/report/index.ts'
import { textOf } from '../report/page-text.ts'
import { MINUTE, openWorld, projectOf, stateOf, type World } from './running.ts'

const PROJECT = 'quiet-river-12345678'
const computes = (id: string) => [{ id, size: 1, scaleToZero: 'never' as const }]

let world: World
afterEach(() => world.close())

const open = async (): Promise<readonly Record<string, unknown>[]> => {
  const events: Record<string, unknown>[] = []
  world = await openWorld(
    {
      projects: [
        {
          id: PROJECT,
          branches: [
            { name: 'main', computes: computes('ep-main') },
            { name: 'dev', computes: computes('ep-dev') },
          ],
        },
      ],
    },
    {
      send: async (body) => {
        events.push(JSON.parse(body).data)
        return 204
      },
    },
  )
  return events
}

const manifest = (main: string, { head = '', dev = '{ size: 1 }' } = {}): string =>
  `version: 1\nproject: ${PROJECT}\n${head}branches:\n  main: { primary: ${main} }\n  dev: { primary: ${dev} }\n`
const BEFORE = manifest('{ size: 1 }')
const NIGHT = 'restartWindow: { days: [thu], from: "00:00", to: "23:00", timezone: UTC }\n'
const policy: AgentPolicy = { onGit: 'apply', onDrift: 'report', allow: new Set(['restart', 'disconnect']) }

test.each<{
  readonly what: string
  readonly before?: string
  readonly commit: string
  readonly lines: readonly string[]
}>([
  {
    what: '`disabled: true`',
    commit: manifest('{ size: 1, disabled: true }'),
    lines: ['disabled (live: true) on primary on main: stays; to restore the default, write disabled: false'],
  },
  {
    what: 'a restart window',
    commit: manifest('{ size: 1 }', { head: NIGHT }),
    lines: ['restartWindow on primary on dev, primary on main: Thu 00:00–23:00 UTC → any time'],
  },
  {
    what: 'a policy',
    commit: manifest('{ size: 1 }', {
      head: 'policy: [{ name: cap, level: warn, reason: Costs., rule: { maxSize: 4 } }]\n',
    }),
    lines: ['policy on **: cap: maxSize 4 → removed'],
  },
])('after a revert of $what, everything the agent shows lists what is no longer managed', async (revert) => {
  const { before = BEFORE, commit, lines } = revert
  const events = await open()
  await world.declare(before)
  const agent = await world.start({ policy })
  await world.pass(MINUTE)
  await world.declare(commit)
  await world.pass(10 * MINUTE)
  expect([stateOf(agent, PROJECT), projectOf(agent, PROJECT).released]).toEqual(['Synced', []])
  const writes = world.writes().length
  await world.declare(before)
  await world.pass(10 * MINUTE)
  const project = projectOf(agent, PROJECT)
  expect([project.state, world.writes().length]).toEqual(['Synced', writes])
  expect(world.log.flatMap((line) => line.split(/No longer managed: |Weakened safeguards: /).slice(1))).toEqual(lines)
  const plan = agent.planOf(PROJECT)
  const frame = { version: '1', sha256: () => '' }
  const { source } = agent.view()
  const history = { applies: [], page: 1, pages: 1 }
  const page = plan && textOf(agentProjectPage({ source, project, plan, history }, frame)).replace(/\s+/g, ' ')
  const detail = agentProjectDetail(project, world.stage.clock.now(), { color: false, width: 80 })
  for (const line of lines) {
    expect(detail).toContain(line)
    expect(page?.replaceAll(' :', ':')).toContain(line)
  }
  for (const text of [detail, page]) expect(text).not.toMatch(/No changes|matches the manifests/)
  expect(events.filter(({ released }) => (released as unknown[]).length > 0)).toMatchObject([
    {
      state: 'Synced',
      message: expect.stringMatching(/^nothing to apply; (no longer managed|weakened safeguards): \d/),
    },
  ])
})

test('a value that moves into `defaults` is still managed, so nothing is listed', async () => {
  const events = await open()
  await world.declare(manifest('{ size: 1, disabled: true }', { dev: '{ size: 1, disabled: true }' }))
  const agent = await world.start({ policy })
  await world.pass(10 * MINUTE)
  await world.declare(manifest('{ size: 1 }', { head: 'defaults: { disabled: true }\n' }))
  await world.pass(10 * MINUTE)
  expect(projectOf(agent, PROJECT).released).toEqual([])
  expect(world.log.filter((line) => line.includes('No longer managed'))).toEqual([])
  expect(events.filter(({ message }) => String(message).includes('no longer'))).toEqual([])
})

// promise: event-values
test('an event names what is no longer declared without its live values', async () => {
  await open()
  await world.declare(manifest('{ size: 2 }', { dev: '{}' }))
  const agent = await world.start({ policy })
  await world.pass(MINUTE)
  await world.declare(manifest('{}', { dev: '{}' }))
  await world.pass(MINUTE)
  const data = eventData(projectOf(agent, PROJECT), { previous: { state: 'Synced' } })
  expect(data.released).toMatchObject([{ kind: 'attribute', branch: 'main', compute: 'ep-main', path: 'size' }])
  expect(JSON.stringify(data.released)).not.toContain('2 CU')
})

test('an agent that was down during a revert compares it with the last commit that it read, and notifies once', async () => {
  const events = await open()
  const repo = join(world.folder, 'repository')
  mkdirSync(repo)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: repo })
  git('init', '-q', '-b', 'main')
  const commit = (text: string): void => {
    writeFileSync(join(repo, 'espalier.yaml'), text)
    git('add', '.')
    git('commit', '-q', '-m', 'manifests')
  }
  const start = async () => {
    const source = gitSource({ repo, ref: 'main', paths: [], folder: join(world.folder, 'mirror') })
    const agent = await world.start({ policy, source, gitInterval: 10 * MINUTE })
    await world.pass(2 * MINUTE)
    return agent
  }
  const stop = async (agent: Awaited<ReturnType<typeof start>>): Promise<void> => {
    agent.stop()
    await world.pass(MINUTE)
  }
  commit(BEFORE)
  let agent = await start()
  commit(manifest('{ size: 1, disabled: true }'))
  agent.fetchSoon()
  await world.pass(2 * MINUTE)
  await stop(agent)
  git('revert', '--no-edit', 'HEAD')
  for (let time = 0; time < 2; time += 1) {
    agent = await start()
    expect(projectOf(agent, PROJECT)).toMatchObject({
      state: 'Synced',
      released: [{ path: 'disabled', liveText: 'true', undo: 'disabled: false' }],
    })
    await stop(agent)
  }
  expect(events.filter(({ released }) => (released as unknown[]).length > 0)).toHaveLength(1)
})
