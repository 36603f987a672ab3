/** The values of `--sandbox`: a seed file, a folder, or none. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { espalier } from './espalier.ts'

let cwd: string

const seedOf = (size: number): string =>
  `projects:\n  - id: shop\n    name: shop\n    branches:\n      - { name: main, computes: [{ id: ep-main, size: ${size} }] }\n`

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'espalier-sandbox-flag-'))
  onTestFinished(() => rm(cwd, { recursive: true }))
  await writeFile(
    join(cwd, 'espalier.yaml'),
    'version: 1\nproject: shop\nbranches: { main: { primary: { size: 2 } } }\n',
  )
  await writeFile(join(cwd, 'seed.yaml'), seedOf(1))
})

const run = (...args: readonly string[]) => espalier(args, { ESPALIER_SANDBOX_TIME_SCALE: '100' }, cwd)
const states = () => readdir(join(cwd, '.espalier/sandbox'))

test('commands with the same seed share a state, however its path is written', async () => {
  expect((await run('apply', '--auto-approve', '--sandbox=seed.yaml')).stdout).toContain('1 done')
  const again = await run('plan', `--sandbox=${join(cwd, 'seed.yaml')}`)
  expect(again).toMatchObject({ stdout: expect.stringContaining('No changes.'), stderr: '' })
  const [state = ''] = await states()
  expect(state).toMatch(/^seed-[0-9a-f]{8}$/)
  expect(await readFile(join(cwd, '.espalier/sandbox', state, '.gitignore'), 'utf8')).toBe('*\n')
})

test('a sandbox starts over if its seed has changed, and says so once', async () => {
  await run('plan', '--sandbox=seed.yaml')
  await writeFile(join(cwd, 'seed.yaml'), seedOf(2))
  expect(await run('plan', '--sandbox=seed.yaml')).toMatchObject({
    stdout: expect.stringContaining('No changes.'),
    stderr: 'Note  seed.yaml has changed, so the sandbox starts over from it.\n',
  })
  expect(await run('plan', '--sandbox=seed.yaml')).toMatchObject({ stderr: '' })
})

test('seeds with the same name in different folders do not share a state', async () => {
  await mkdir(join(cwd, 'other'))
  await writeFile(join(cwd, 'other/seed.yaml'), seedOf(2))
  expect((await run('plan', '--sandbox=seed.yaml')).stdout).toContain('1 to update')
  expect((await run('plan', '--sandbox=other/seed.yaml')).stdout).toContain('No changes.')
  expect(await states()).toHaveLength(2)
})

test.each([
  [['--sandbox=missing.yaml'], '100', 'The seed file missing.yaml was not found.'],
  [['--sandbox=seed.yaml'], 'fast', 'ESPALIER_SANDBOX_TIME_SCALE must be a number of at least 0.001, not fast.'],
])('plan %j with the time scale %s is rejected', async (flags, scale, message) => {
  const ended = await espalier(['plan', ...flags], { ESPALIER_SANDBOX_TIME_SCALE: scale }, cwd)
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr.replaceAll(`${cwd}/`, '')).toContain(message)
  expect(await readdir(cwd)).not.toContain('.espalier')
})

test('a folder keeps its state', async () => {
  await run('plan', '--sandbox=state')
  expect(await readdir(join(cwd, 'state'))).toContain('log.jsonl')
})
