/** Several keys: write access to one team's files does not give access to another team's projects. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HOUR, MINUTE, openWorld, projectOf, stateOf, type World } from './running.ts'

const [OURS, THEIRS] = ['quiet-river-12345678', 'late-sun-87654321'] as const
const projectSeed = (id: string, tail: string) => ({
  id,
  branches: [{ name: 'main', computes: [{ id: `ep-main-${tail}`, size: 1, scaleToZero: 'never' as const }] }],
})
const manifest = (project: string, size: number): string =>
  `version: 1\nproject: ${project}\nbranches: { main: { primary: { size: ${size} } } }\n`

let world: World
beforeEach(async () => {
  world = await openWorld({ projects: [projectSeed(OURS, '11111111'), projectSeed(THEIRS, '22222222')] })
})
afterEach(() => world.close())

/** Starts an agent on projects that are in sync, and then replaces their files. */
const start = async (files: Readonly<Record<string, string>>) => {
  const before = { 'ours.yaml': manifest(OURS, 1), 'theirs.yaml': manifest(THEIRS, 1) }
  for (const [name, text] of Object.entries(before)) await world.declare(text, name)
  const read = async () => world.stage.sandbox.apiKey
  const agent = await world.start({
    policy: { onGit: 'apply', onDrift: 'report', allow: new Set(['restart']) },
    keys: [
      { name: 'ours', read, projects: [OURS], paths: ['ours*.yaml'] },
      { name: 'theirs', read, projects: [THEIRS], paths: ['theirs*.yaml'] },
    ],
  })
  await world.pass(2 * MINUTE)
  for (const name of Object.keys({ ...before, ...files })) await world.declare(files[name] ?? '# nothing\n', name)
  await world.pass(HOUR)
  return agent
}

test('the agent applies each project that is declared in a file within the `paths` of its key', async () => {
  const agent = await start({ 'ours.yaml': manifest(OURS, 2), 'theirs.yaml': manifest(THEIRS, 2) })
  expect([stateOf(agent, OURS), stateOf(agent, THEIRS)]).toEqual(['Synced', 'Synced'])
  expect(world.writes()).toHaveLength(2)
})

const EXTENDING = `version: 1\nproject: ${THEIRS}\nextends: ours-shared.yaml\nbranches: { main: { primary: {} } }\n`

// promise: separate-teams, foreign-document
test.each<readonly [string, Readonly<Record<string, string>>, string]>([
  ['declare it', { 'ours.yaml': manifest(THEIRS, 2) }, 'ours.yaml'],
  ['declare it in a second document', { 'ours.yaml': `${manifest(OURS, 1)}---\n${manifest(THEIRS, 2)}` }, 'ours.yaml'],
  ['declare it too', { 'ours.yaml': manifest(THEIRS, 2), 'theirs.yaml': manifest(THEIRS, 1) }, 'ours.yaml'],
  [
    'are extended by it',
    { 'theirs.yaml': EXTENDING, 'ours-shared.yaml': 'version: 1\ndefaults: { size: 2 }\n' },
    'ours-shared.yaml',
  ],
  [
    'name it in `projects`',
    { 'ours.yaml': manifest(OURS, 2).replace(`project: ${OURS}`, `projects: [${OURS}, ${THEIRS}]`) },
    'ours.yaml',
  ],
])("a project is not changed when files outside its key's `paths` %s", async (_how, files, file) => {
  const agent = await start(files)
  expect(projectOf(agent, THEIRS)).toMatchObject({
    state: 'Invalid',
    message: expect.stringContaining(file),
  })
  expect(world.writes().filter((line) => line.includes(THEIRS))).toEqual([])
})

test('a project that no key covers is reported and not read', async () => {
  const agent = await start({ 'ours.yaml': manifest('some-other-11111111', 2) })
  expect(projectOf(agent, 'some-other-11111111')).toMatchObject({
    state: 'Invalid',
    message: 'No key in the --keys file covers project some-other-11111111.',
  })
})
