/** What a change makes different for users, wherever the agent shows the change. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { agentPage } from '../../src/report/html/index.ts'
import { agentAdoption, agentProjectDetail, terminalPlan } from '../../src/report/index.ts'
import { world as plannerWorld, planOf } from '../planner/world.ts'
import { textOf } from '../report/page-text.ts'
import { HOUR, MINUTE, openWorld, projectOf, stateOf, type World } from './running.ts'

const PROJECT = 'quiet-river-12345678'
/** The stage's clock starts on Thursday 2026-01-01T00:00Z. */
const manifest = (size: number): string => `version: 1
project: ${PROJECT}
restartWindow: { days: [thu], from: "02:00", to: "04:00", timezone: UTC }
branches:
  main: { primary: { size: ${size} } }
`
const DISK = 'temp disk 120 → 30 GiB'

let world: World
afterEach(() => world.close())

test('a difference of an idle compute is listed with the words of the plan', async () => {
  const idle = { id: 'ep-main', size: 8, state: 'idle' } as const
  world = await openWorld({ projects: [{ id: PROJECT, branches: [{ name: 'main', computes: [idle] }] }] })
  await world.declare(manifest(2))
  const agent = await world.start()
  await world.pass(MINUTE)
  const project = projectOf(agent, PROJECT)
  const words = 'idle; restarts if in use'
  expect(agentAdoption(project, { color: false, width: 80 })).toContain(words)
  expect(textOf(agentPage(agent.view(), { version: '1', sha256: () => '' }))).toContain(words)
  const live = plannerWorld({ main: { primary: { size: 8, state: 'idle' } } })
  const plan = planOf({ branches: { main: { primary: { size: 2 } } } }, live)
  expect(terminalPlan(plan, { color: false, width: 120 })).toContain(words)
  agent.stop()
})

test('the view, status, page, log and journal show the effects of a change in the words of the plan, and events omit them', async () => {
  const events: string[] = []
  world = await openWorld(
    {
      projects: [
        { id: PROJECT, branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 8, scaleToZero: 'never' }] }] },
      ],
    },
    {
      send: async (body) => {
        events.push(body)
        return 204
      },
    },
  )
  await world.declare(manifest(8))
  const agent = await world.start()
  await world.pass(MINUTE)
  await world.declare(manifest(2))
  await world.pass(MINUTE)
  const project = projectOf(agent, PROJECT)
  expect(project).toMatchObject({ state: 'Scheduled', differences: [{ path: 'size' }] })
  expect(project.differences[0]?.effects).toContainEqual(
    expect.objectContaining({ kind: 'temporary-disk', before: 120, after: 30, when: 'now', text: DISK }),
  )
  const page = textOf(agentPage(agent.view(), { version: '1', sha256: () => '' }))
  const detail = agentProjectDetail(project, world.stage.clock.now(), { color: false, width: 80 })
  for (const text of [page, detail]) expect(text).toContain(DISK)
  expect(world.log.join('\n')).toContain(`effect, once applied: ep-main on main: ${DISK}`)

  await world.pass(3 * HOUR)
  expect(stateOf(agent, PROJECT)).toBe('Synced')
  expect(projectOf(agent, PROJECT).lastApply?.effects).toContain(`primary on main: ${DISK}`)
  expect(world.log.join('\n')).toContain(`effect: primary on main: ${DISK}`)
  expect(events.join('\n')).toContain('update primary on main')
  expect(events.join('\n')).not.toMatch(/temp disk|120/)

  agent.stop()
  await world.pass(MINUTE)
  const journals = join(world.folder, 'data', 'journals')
  const files = (await readdir(journals, { recursive: true })).filter((file) => file.endsWith('.jsonl'))
  const journal = (await Promise.all(files.map((file) => readFile(join(journals, file), 'utf8')))).join('')
  const plan = journal.split('\n').flatMap((line) => (line.includes('"type":"plan"') ? [JSON.parse(line)] : []))[0]
  expect(JSON.stringify(plan)).toContain('"kind":"temporary-disk"')
})
