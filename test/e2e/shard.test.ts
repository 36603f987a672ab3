/** `--shard` and `report merge`: a fleet planned and applied in parts. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const PROJECTS = Array.from({ length: 8 }, (_, index) => `fleet-${index}`)
const SHARDS = ['1/3', '2/3', '3/3'] as const
let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox({
    timeScale: 50,
    seed: {
      projects: PROJECTS.map((id) => ({
        id,
        branches: [{ name: 'main', computes: [{ id: `ep-${id}`, size: 1, scaleToZero: 'never' }] }],
      })),
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'espalier-shard-'))
  await writeFile(join(folder, 'espalier.yaml'), fleet(1))
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'base')
  await writeFile(join(folder, 'espalier.yaml'), fleet(2))
})
afterAll(() => sandbox.close())

const fleet = (size: number): string =>
  PROJECTS.map((id) => `version: 1\nproject: ${id}\nbranches: { main: { primary: { size: ${size} } } }\n`).join('---\n')
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
const run = (...args: readonly string[]) => espalier(args, environmentOf(sandbox), folder)
const offline = (...args: readonly string[]) => espalier(args, {}, folder)
const planned = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await run('plan', '--format', 'json', ...args)
  expect(code, stderr).toBe(0)
  return { plan: JSON.parse(stdout), stderr }
}
const merge = (...args: readonly string[]) => offline('report', 'merge', ...args)

test('all shards together cover each project once, and their merged plan equals the plan of the fleet', async () => {
  const { plan: whole } = await planned()
  const seen: string[] = []
  for (const [index, shard] of SHARDS.entries()) {
    const { plan, stderr } = await planned('--shard', shard, '--out', `saved-${index + 1}.json`)
    expect(plan.shard).toBe(shard)
    expect(stderr).toMatch(new RegExp(`Shard ${shard}: ${plan.projects.length} projects? of the fleet\\.`))
    await writeFile(join(folder, `printed-${index + 1}.json`), JSON.stringify(plan))
    seen.push(...plan.projects)
  }
  expect(seen.sort()).toEqual(PROJECTS)
  for (const kind of ['saved', 'printed']) {
    const { code, stdout, stderr } = await merge(
      `${kind}-3.json`,
      `${kind}-1.json`,
      `${kind}-2.json`,
      '--format',
      'json',
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(whole)
  }
  expect((await merge('saved-1.json', 'saved-2.json', 'saved-3.json')).stdout).toContain(
    'Plan: 0 to create, 8 to update, 0 to delete.',
  )
})

test('in Markdown, merged shards form one comment with the changes since the base', async () => {
  for (const [index, shard] of SHARDS.entries()) {
    const { plan } = await planned('--shard', shard, '--base', 'main')
    await writeFile(join(folder, `based-${index + 1}.json`), JSON.stringify(plan))
  }
  const files = ['based-1.json', 'based-2.json', 'based-3.json']
  const { code, stdout } = await merge(...files, '--format', 'markdown')
  expect(code).toBe(0)
  expect(stdout).toContain('Espalier: 8 computes restart, none is deleted.')
  expect(stdout).toContain('Introduced by this pull request')
  for (const project of PROJECTS) expect(stdout).toContain(project)
  const { origin } = JSON.parse((await merge(...files, '--format', 'json')).stdout)
  expect(origin).toMatchObject({ base: git('rev-parse', 'main').trim(), drift: [], settled: [] })
  expect(origin.introduced).toHaveLength(8)
})

test.each([
  [['saved-1.json', 'saved-3.json'], /missing for 1 of the fleet.s 3 shards: 2\/3/],
  [['saved-1.json', 'saved-2.json', 'saved-2.json', 'saved-3.json'], /is in \S*saved-2\.json and in \S*saved-2\.json/],
  [['based-1.json', 'printed-2.json', 'printed-3.json'], /printed-2\.json was planned without --base/],
  [['saved-1.json', 'saved-2.json', 'espalier.yaml'], /espalier\.yaml is not a saved plan: it is not JSON/],
  [['saved-1.json', 'nowhere.json'], /nowhere\.json cannot be read/],
])('report merge %j fails with the message: %s', async (files, words) => {
  const { code, stdout, stderr } = await merge(...files)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(words)
})

test.each(['4/3', '0/3', 'one', '1/0'])('plan --shard %s is rejected', async (shard) => {
  const { code, stderr } = await run('plan', '--shard', shard)
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`--shard ${shard} is not a valid shard`),
  })
})

test('a shard without projects plans nothing and exits with 0', async () => {
  const counts = await Promise.all(
    [1, 2, 3, 4].map(async (index) => (await planned('--shard', `${index}/20`)).plan.projects.length),
  )
  expect(counts).toContain(0)
})

test('apply applies a saved plan of one shard to that shard only', async () => {
  const shard = SHARDS[1]
  const mine = new Set<string>((await planned('--shard', shard)).plan.projects)
  expect((await run('apply', 'saved-2.json', '--shard', shard, '--auto-approve')).stderr).toContain(
    'which already contains it',
  )
  const { code, stdout, stderr } = await run('apply', 'saved-2.json', '--auto-approve')
  expect(code, stdout + stderr).toBe(0)
  expect((await planned()).plan.changes.map(({ project }: { project: string }) => project)).toEqual(
    PROJECTS.filter((project) => !mine.has(project)),
  )
  for (const other of [SHARDS[0], SHARDS[2]]) {
    expect((await run('apply', '--shard', other, '--auto-approve')).code).toBe(0)
  }
  expect((await planned()).plan.changes).toEqual([])
  expect(JSON.parse(await readFile(join(folder, 'saved-2.json'), 'utf8')).shard).toBe(shard)
})
