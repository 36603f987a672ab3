/** Snapshots, saved plans, and imported or formatted manifests as files, and `explain`. */
import { chmod, mkdir, mkdtemp, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseSeed, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier, ROOT } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const MANIFEST = join(ROOT, 'examples/quickstart/espalier.yaml')
let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  const seed = await readFile(join(ROOT, 'examples/quickstart/seed.yaml'), 'utf8')
  sandbox = await startSandbox({ seed: parseSeed(seed, 'seed.yaml') })
  folder = await mkdtemp(join(tmpdir(), 'espalier-files-'))
  await writeFile(join(folder, 'espalier.yaml'), await readFile(MANIFEST))
})
afterAll(() => sandbox.close())

const online = (...args: readonly string[]) => espalier(args, environmentOf(sandbox), folder)
/** Without a key or a base URL. */
const offline = (...args: readonly string[]) => espalier(args, {}, folder)

test('a plan from a snapshot equals the plan of the live project and states the age of the snapshot', async () => {
  expect((await online('snapshot', '--out', 'live.json')).code).toBe(0)
  const live = await online('plan', '--format', 'json')
  const { code, stdout, stderr } = await offline('plan', '--live', 'live.json', '--format', 'json')
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/snapshot live\.json, which is \d+s old/),
  })
  expect(JSON.parse(stdout)).toEqual(JSON.parse(live.stdout))
  expect(await readFile(join(folder, 'live.json'), 'utf8')).not.toContain(sandbox.apiKey)
  const changed = await offline('plan', '--live', 'live.json', '--detailed-exitcode')
  expect(changed.code).toBe(2)
})

test('snapshot --project needs no manifests and reports an unknown project', async () => {
  const { code, stderr } = await online(
    'snapshot',
    '--project',
    'quiet-river-12345678',
    '--project',
    'nowhere',
    '--out',
    'two.json',
  )
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no project `nowhere`') })
  const { observed } = JSON.parse(await readFile(join(folder, 'two.json'), 'utf8'))
  expect(observed.projects).toHaveLength(1)
})

test('apply and show reject a snapshot file', async () => {
  await online('snapshot', '--out', 'live.json')
  for (const args of [
    ['apply', 'live.json', '--auto-approve'],
    ['show', 'live.json'],
  ]) {
    const { code, stderr } = await online(...args)
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is a snapshot, not a saved plan'),
    })
  }
})

test.each([
  ['invalid JSON', '{', 'it is not JSON'],
  ['another kind of file', '{"kind":"other"}', 'kind'],
  [
    'an unknown field',
    '{"kind":"espalier-snapshot","formatVersion":"1.0","espalier":"1","observed":{"takenAt":"2026-01-01T00:00:00Z","projects":[],"missing":[],"__proto__x":1}}',
    'observed',
  ],
])('plan --live rejects a file that is not a valid snapshot: %s', async (_what, content, message) => {
  await writeFile(join(folder, 'bad.json'), content)
  const { code, stderr } = await offline('plan', '--live', 'bad.json')
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  expect(stderr).toContain('espalier snapshot --out FILE')
  expect(stderr).not.toMatch(/\n\s+at /)
})

test('show --resolved prints the resolved manifests on stdout and their problems on stderr', async () => {
  const show = (...args: readonly string[]) => espalier(['show', '--resolved', ...args])
  const yaml = await show('examples/fleet')
  expect(yaml).toMatchObject({ code: 0, stdout: expect.stringMatching(/scaleToZero: 1m # .*platform\.yaml:13\n/) })
  const json = await show('examples/fleet', '--format', 'json')
  expect(JSON.parse(json.stdout)).toMatchObject({ formatVersion: '1.0', documents: { length: 5 } })
  for (const flags of [
    ['--format', 'markdown'],
    ['--html', 'resolved.html'],
  ]) {
    const rejected = { code: 1, stdout: '', stderr: expect.stringContaining('prints YAML or JSON to stdout') }
    expect(await show('examples/fleet', ...flags)).toMatchObject(rejected)
  }
  expect(await show('nowhere.yaml')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('E_NOT_FOUND'),
  })
})

test('show prints a saved plan as plan printed it, even if the plan is stale', async () => {
  const planned = await online('plan', '--out', 'plan.json')
  const shown = await offline('show', 'plan.json')
  expect(shown.code).toBe(0)
  const withoutTime = (text: string): string => text.replace(/ Snapshot of \S+ \S+ UTC\./, '')
  expect(withoutTime(shown.stdout)).toBe(withoutTime(planned.stdout))
  expect(shown.stderr).toMatch(/Saved at \S+ \S+ UTC by espalier \d/)
  expect(JSON.parse((await offline('show', 'plan.json', '--format', 'json')).stdout).changes).toHaveLength(4)
  expect((await offline('show', 'plan.json', '--format', 'markdown')).stdout).toContain(
    '### Espalier: 1 compute restarts',
  )
  expect((await offline('show', 'espalier.yaml')).stderr).toContain('is not a saved plan')
})

test.each([
  ['E_SIZE', 'espalier explain sizes'],
  ['sizes', '1m to 7d or never'],
  ['e_stale', 'must not be outdated or edited'],
  ['PRUNED', 'not declared, and the manifest sets prune: true'],
  ['restart', 'restarts: existing connections drop'],
  ['delete', '--allow delete'],
  ['5', 'Exit code 5: not everything was done yet, for example because a restart window is closed.'],
])('espalier explain %s prints the explanation', async (code, words) => {
  expect(await offline('explain', code)).toMatchObject({ code: 0, stdout: expect.stringContaining(words), stderr: '' })
})

test('explain lists all codes, and suggests the closest topic for an unknown one', async () => {
  const { stdout } = await offline('explain')
  expect(stdout.split('\n').length).toBeGreaterThan(90)
  const { code, stderr } = await offline('explain', 'E_SIZES')
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean E_SIZE?') })
  expect((await offline('explain', 'size')).stderr).toContain('did you mean sizes?')
})

test('import writes a manifest whose plan is empty', async () => {
  const imported = await online('import', '--project', 'quiet-river-12345678', '--out', 'imported.yaml')
  expect(imported.code, imported.stderr).toBe(0)
  expect(imported.stderr).toContain('the plan of this manifest is empty')
  const planned = await online('plan', 'imported.yaml', '--detailed-exitcode')
  expect({ code: planned.code, stdout: planned.stdout }).toMatchObject({ code: 0 })
  const text = await readFile(join(folder, 'imported.yaml'), 'utf8')
  expect(text).toMatch(/^# yaml-language-server/)
  expect((await espalier(['fmt', '--check', 'imported.yaml'], {}, folder)).code).toBe(0)
  expect((await online('import', '--project', 'quiet-river-12345678', '--branch', 'main', '--pin')).stdout).toContain(
    'id: ep-cool-dawn-a1b2c3d4',
  )
})

const OWN = `# The web shop.
version: 1
project: quiet-river-12345678
branches:
  # Ask in #databases first.
  main: { primary: { size: 8 } }  # too big?
`

test('import into a file adds live computes, updates differing values and leaves all other text unchanged', async () => {
  await writeFile(join(folder, 'own.yaml'), OWN)
  const into = await online('import', '--project', 'quiet-river-12345678', '--out', 'own.yaml')
  expect(into, into.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('1 value updated') })
  const text = await readFile(join(folder, 'own.yaml'), 'utf8')
  expect(text.startsWith(OWN.replace('size: 8', 'size: 1'))).toBe(true)
  expect((await online('plan', 'own.yaml', '--detailed-exitcode')).code).toBe(0)
  const again = await online('import', '--project', 'quiet-river-12345678', '--out', 'own.yaml')
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('0 computes added, 0 values updated') })
  expect(await readFile(join(folder, 'own.yaml'), 'utf8')).toBe(text)
})

test('import into a file of another project adds a document', async () => {
  const other = 'version: 1\nproject: late-sun-87654321\nbranches: { main: {} }'
  await writeFile(join(folder, 'fleet.yaml'), other)
  const into = await online('import', '--project', 'quiet-river-12345678', '--out', 'fleet.yaml')
  expect(into, into.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('in a separate document') })
  const text = await readFile(join(folder, 'fleet.yaml'), 'utf8')
  expect(text.startsWith(`${other}\n---\n`)).toBe(true)
})

test('import into a file reports the position of a compute that is declared absent but exists, and writes nothing', async () => {
  const ahead = `${OWN}  staging: { primary: absent }\n`
  await writeFile(join(folder, 'ahead.yaml'), ahead)
  const into = await online('import', '--project', 'quiet-river-12345678', '--out', 'ahead.yaml')
  expect(into).toMatchObject({ code: 1, stdout: '' })
  expect(into.stderr).toContain('ahead.yaml:7')
  expect(into.stderr).toContain('The primary on staging is declared absent but exists.')
  expect(await readFile(join(folder, 'ahead.yaml'), 'utf8')).toBe(ahead)
})

test.each([
  ['a folder', 'folder', '', 'it is a folder'],
  [
    'a manifest of another project if no compute matches',
    'bare.yaml',
    'version: 1\nproject: x\n',
    'There is no compute to import',
  ],
])('import into %s is rejected with a message', async (_what, name, text, message) => {
  if (text === '') await mkdir(join(folder, name))
  else await writeFile(join(folder, name), text)
  const { code, stderr } = await online('import', '--project', 'quiet-river-12345678', '--branch', 'n*', '--out', name)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
})

// promise: device-as-file
test('import reads no more of an existing file than the size limit', async () => {
  await writeFile(join(folder, 'huge.yaml'), '')
  await truncate(join(folder, 'huge.yaml'), 33 * 1024 * 1024)
  const { code, stderr } = await online('import', '--project', 'quiet-river-12345678', '--out', 'huge.yaml')
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('E_OUT') })
})

test('import keeps the comments of a file that has nothing else', async () => {
  const comments = '# yaml-language-server: $schema=./manifest.schema.json\n# Owner: the platform team'
  await writeFile(join(folder, 'comments.yaml'), comments)
  const { code } = await online('import', '--project', 'quiet-river-12345678', '--out', 'comments.yaml')
  expect(code).toBe(0)
  const text = await readFile(join(folder, 'comments.yaml'), 'utf8')
  expect(text.startsWith(`${comments}\n`)).toBe(true)
  expect(text.match(/yaml-language-server/g)).toHaveLength(1)
  expect(text).toMatch(/^project: quiet-river-12345678$/m)
  expect((await online('plan', 'comments.yaml', '--detailed-exitcode')).code).toBe(0)
})

// promise: private-files
test('saved plans, snapshots and pages are readable by their owner only', async () => {
  await writeFile(join(folder, 'shown.yaml'), TIDY)
  const written = [
    ['plan', 'shown.yaml', '--out', 'shown.json'],
    ['plan', 'shown.yaml', '--html', 'shown.html'],
    ['snapshot', 'shown.yaml', '--out', 'shown-live.json'],
  ]
  for (const args of written) {
    const { code, stderr } = await online(...args)
    expect(code, stderr).toBe(0)
    expect((await stat(join(folder, args.at(-1) ?? ''))).mode & 0o777, args.join(' ')).toBe(0o600)
  }
})

test('formatting a file keeps its mode', async () => {
  const path = join(folder, 'rights.yaml')
  await writeFile(path, UNTIDY)
  await chmod(path, 0o664)
  expect((await offline('fmt', 'rights.yaml')).code).toBe(0)
  expect((await stat(path)).mode & 0o777).toBe(0o664)
})

const UNTIDY = `version: 1
branches:
  main:
    primary: { scaleToZero: 300s, size: 1.0 }
# Of the shop.
project: quiet-river-12345678
`
const TIDY = `version: 1
# Of the shop.
project: quiet-river-12345678
branches:
  main:
    primary: { size: 1, scaleToZero: 5m }
`

test('fmt --check writes nothing, prints the diff and exits with 2, and plain fmt formats the file', async () => {
  const path = join(folder, 'untidy.yaml')
  await writeFile(path, UNTIDY)
  const checked = await offline('fmt', '--check', 'untidy.yaml')
  expect(checked).toMatchObject({ code: 2, stderr: expect.stringContaining('run `espalier fmt`') })
  expect(checked.stdout).toContain('+    primary: { size: 1, scaleToZero: 5m }')
  expect(await readFile(path, 'utf8')).toBe(UNTIDY)
  expect(await offline('fmt', 'untidy.yaml')).toMatchObject({ code: 0, stdout: 'untidy.yaml\n' })
  expect(await readFile(path, 'utf8')).toBe(TIDY)
  const again = await offline('fmt', 'untidy.yaml')
  expect(again).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('Nothing to format in 1 file.') })
})

test('fmt skips a file that it cannot parse, reports the position, and formats the other files', async () => {
  await writeFile(join(folder, 'broken.yaml'), 'version: [1\n')
  await writeFile(join(folder, 'other.yaml'), UNTIDY)
  const { code, stdout, stderr } = await offline('fmt', 'broken.yaml', 'other.yaml')
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'other.yaml\n' })
  expect(stderr).toContain('broken.yaml:')
  expect(await readFile(join(folder, 'broken.yaml'), 'utf8')).toBe('version: [1\n')
})

test.each([
  [['--project', 'nowhere'], '--project nowhere matches no project'],
  [['--project', 'quiet-river-12345678', '--branch', '[a'], 'is not a valid glob'],
])('espalier import %j fails with the message: %s', async (args, message) => {
  const { code, stdout, stderr } = await online('import', ...args)
  expect({ code, stdout, stderr }).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
})

test('plan --rehearse applies the plan to a sandbox and changes nothing live', async () => {
  const before = sandbox.control.dump()
  const { code, stdout, stderr } = await online('plan', '--rehearse', '--format', 'json')
  expect(code, stderr).toBe(0)
  expect(stderr).toContain(
    'Rehearsed  4 steps done on a sandbox, in spite of injected faults: a lock, a slow operation and a failed operation. A new plan is empty.',
  )
  expect(JSON.parse(stdout).changes).toHaveLength(4)
  expect(sandbox.control.dump()).toEqual(before)
  // A plan from a snapshot needs neither network nor key.
  await online('snapshot', '--out', 'live.json')
  expect((await offline('plan', '--live', 'live.json', '--rehearse')).stderr).toContain('A new plan is empty')
})

test('plan --rehearse reports that a plan with a step that is not allowed cannot be completed', async () => {
  const file = join(folder, 'refused.yaml')
  await writeFile(
    file,
    'version: 1\nproject: quiet-river-12345678\nbranches: { main: { protect: true, primary: absent } }\n',
  )
  const { code, stderr } = await online('plan', file, '--rehearse')
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('No live project was changed') })
})
