/** The commands of `espalier agent`, on the embedded sandbox. */
import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { longTest } from '../long-runs.ts'
import { serve } from '../serve.ts'
import { espalier, espalierAsProcess, type Running, start } from './espalier.ts'

const PROJECT = 'quiet-river-12345678'
let folder: string
let running: Running | undefined

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: join(folder, 'repo') }).toString()
const commit = async (size: string, more = ''): Promise<void> => {
  const manifest = `version: 1\nproject: ${PROJECT}\nbranches:\n  main: { primary: { size: ${size} }${more} }\n`
  await writeFile(join(folder, 'repo', 'espalier.yaml'), manifest)
  git('add', '.')
  git('commit', '-qm', size)
}
const agent = (...args: string[]) => espalier(['agent', ...args, '--data', join(folder, 'data')])
const run = (...more: string[]): Running =>
  start(
    [
      ...['agent', 'run', '--repo', join(folder, 'repo'), '--git-interval', '1s', '--data', join(folder, 'data')],
      ...['--listen', '127.0.0.1:0', '--sandbox=seed.yaml', ...more],
    ],
    { ESPALIER_SANDBOX_TIME_SCALE: '50' },
    folder,
  )

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-agent-'))
  execFileSync('git', ['init', '-q', '-b', 'main', join(folder, 'repo')])
  await commit('1')
  const seed = `projects:\n  - id: ${PROJECT}\n    name: shop\n    branches:\n      - { id: br-main-11111111, name: main, computes: [{ id: ep-main-11111111, size: 1, scaleToZero: never }] }\n`
  await writeFile(join(folder, 'seed.yaml'), seed)
})
afterEach(async () => {
  running?.interrupt('SIGTERM')
  await running?.ended
  running = undefined
  await rm(folder, { recursive: true, force: true })
})

test('the agent applies a commit, reports it in status, history and page, and exits with 0 on SIGTERM', async () => {
  running = run()
  await running.says(`${PROJECT}  Synced`)
  expect(await agent('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('Synced') })
  await commit('2')
  await running.says('done: update primary on main')
  const settled = await agent('reconcile', PROJECT)
  expect(settled).toMatchObject({ code: 0, stdout: expect.stringContaining('Synced') })
  const history = await agent('history', PROJECT)
  expect(history.stdout).toContain('update primary on main (ep-main-11111111) (restart)')
  expect((await agent('history', 'shop')).stdout).toBe(history.stdout)
  expect(history.stdout).toContain(git('rev-parse', 'HEAD').slice(0, 12))
  const page = /Page {2}(\S+)/.exec(running.sofar.stdout)?.[1] ?? ''
  expect(await (await fetch(page)).text()).toContain(PROJECT)
  expect(await (await fetch(`${page}metrics`)).text()).toContain(
    `espalier_project_state{project="${PROJECT}",state="Synced"} 1`,
  )
  running.interrupt('SIGTERM')
  expect((await running.ended).code).toBe(0)
  expect(await agent('status')).toMatchObject({ code: 1, stderr: expect.stringContaining('does not respond') })
})

test('the agent exits with 3 if it had to leave a branch without its primary', async () => {
  running = run()
  await running.says(`${PROJECT}  Synced`)
  running.interrupt('SIGTERM')
  await running.ended
  const file = join(folder, 'data', 'projects', `${PROJECT}.json`)
  const chain = { version: git('rev-parse', 'HEAD').trim(), changes: ['a'], branches: ['main'] }
  const gap = { branches: ['main'], steps: 2, since: 0 }
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), chain, gap }))
  const seed = join(folder, 'seed.yaml')
  await writeFile(seed, (await readFile(seed, 'utf8')).replace('{ id: ep-main', '{ type: read_only, id: ep-main'))
  await commit('2', ', colour: red')
  running = run()
  await running.says('Invalid (1 difference). Branch main has no primary since 1970-01-01T00:00:00.000Z: 2 steps left.')
  running.interrupt('SIGTERM')
  expect((await running.ended).code).toBe(3)
  running = undefined
})

// hint: Name one or more projects, or use --all, but not both.
test('a suspended project is not applied until it is resumed', async () => {
  running = run()
  await running.says(`${PROJECT}  Synced`)
  const suspended = await agent('suspend', 'shop', '--for', '1h', '--reason', 'load test')
  expect(suspended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Suspended until \w+ .* UTC: shop\.\n$/) })
  await running.says('Suspended')
  await commit('2')
  const status = await agent('reconcile', PROJECT)
  expect(status).toMatchObject({ code: 3, stdout: expect.stringContaining('load test') })
  expect(status.stdout).toMatch(/^ {2}as of \ds ago$/m)
  expect(status.stdout).toContain('espalier agent resume')
  expect((await agent('status')).stdout).toMatch(/AS OF.*\n.*shop.* \ds ago/)
  expect((await agent('status', 'shop')).stdout).toMatch(new RegExp(`${PROJECT}[^]*\n  version [0-9a-f]{12}\n`))
  expect(await agent('status', 'shops')).toMatchObject({ code: 1, stderr: expect.stringContaining('no project shops') })
  expect((await agent('resume')).stderr).toContain('Name one or more projects, or use --all')
  expect(await agent('resume', '--all')).toMatchObject({ code: 0, stdout: 'Resumed: all projects.\n' })
  await running.says('done: update')
})

// hint: Name the folder of the agent with --data, or start an agent with `espalier agent run`.
// hint: Start it with `espalier agent run`, or name its folder with --data.
longTest('agent status works once the agent is started', async () => {
  const suggested = `\`espalier agent run --data ${join(folder, 'data')}\``
  expect((await agent('status')).stderr).toContain(`or start an agent with ${suggested}`)
  running = run()
  await running.says(`${PROJECT}  Synced`)
  expect(await agent('status')).toMatchObject({ code: 0, stderr: '' })
  running.interrupt('SIGTERM')
  await running.ended
  expect((await agent('status')).stderr).toContain(`Start it with ${suggested}`)
})

// hint: To follow a folder that is not a repository, remove the word `--repo` from the command
test('a folder that is not a repository is followed without --repo', async () => {
  await mkdir(join(folder, 'plain'))
  await copyFile(join(folder, 'repo', 'espalier.yaml'), join(folder, 'plain', 'espalier.yaml'))
  const flags = ['--data', 'data', '--sandbox=seed.yaml', '--once']
  const command = ['agent', 'run', '--repo', 'plain', ...flags]
  const { stderr } = await espalier(command, {}, folder)
  const [, removed = '', kept = ''] = /remove the word `(\S+)` from the command, and keep (\S+)\./.exec(stderr) ?? []
  expect(kept).toBe('plain')
  expect(
    await espalier(
      command.filter((word) => word !== removed),
      {},
      folder,
    ),
  ).toMatchObject({ code: 0 })
})

test('agent run --once stops after the running rounds on SIGTERM', async () => {
  const ids = Array.from({ length: 150 }, (_, index) => `shop-${index}`)
  const projects = ids.map((id, index) => ({
    id,
    branches: [{ name: 'main', computes: [{ id: `ep-${index}`, size: 1 }] }],
  }))
  await writeFile(join(folder, 'seed.yaml'), JSON.stringify({ projects }))
  const file = join(folder, 'repo', 'espalier.yaml')
  await writeFile(file, `version: 1\nprojects: ${JSON.stringify(ids)}\nbranches: { main: { primary: { size: 1 } } }\n`)
  git('commit', '-qam', 'many')
  running = run('--once')
  await running.says('shop-0  Synced')
  running.interrupt('SIGTERM')
  const { code, stdout, stderr } = await running.ended
  const seen = ids.filter((id) => `${stdout}${stderr}`.includes(`${id}  Synced`))
  expect(seen.length).toBeLessThan(ids.length)
  // The others are `Unknown`.
  expect(code).toBe(2)
})

test('agent status names a missing compute by its role', async () => {
  await commit('1', ', replicas: { reporting: { size: 1 } }')
  running = run('--on-git', 'report')
  await running.says(`${PROJECT}  OutOfSync`)
  expect((await agent('status', 'shop')).stdout).toContain('main replica "reporting"  create')
})

longTest('the command that agent status suggests restores a manifest that a commit deleted', async () => {
  running = run()
  await running.says(`${PROJECT}  Synced`)
  const before = git('rev-parse', 'HEAD').slice(0, 12)
  git('rm', '-q', 'espalier.yaml')
  git('commit', '-qm', 'Remove')
  await running.says(`${PROJECT}  Invalid`)
  const restoring = `git checkout ${before} -- espalier.yaml && git commit`
  const { stdout } = await agent('status', 'shop')
  expect(stdout).toContain(restoring)
  expect(stdout).not.toContain('espalier validate')
  git('checkout', before, '--', 'espalier.yaml')
  git('commit', '-qm', 'Restore')
  await running.says(`version ${git('rev-parse', 'HEAD').slice(0, 12)}`)
  expect((await agent('reconcile', 'shop')).stdout).toContain('Synced')
})

// hint: Stop it, or choose another folder with --data.
test('a second agent on the same data folder is rejected', async () => {
  running = run()
  await running.says('Page')
  const second = (data: string) =>
    espalier(['agent', 'run', '--once', '--data', join(folder, data), '--sandbox=other', join(folder, 'repo')])
  expect(await second('data')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another agent uses the data'),
  })
  expect((await second('other-data')).stderr).not.toContain('Another agent')
})

test('agent run --once runs one round, sends its events, and exits with the code of agent status', async () => {
  const received: string[] = []
  const { origin } = await serve(async (request, response) => {
    received.push(await text(request))
    response.writeHead(204).end()
  })
  await writeFile(join(folder, 'secret'), `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`)
  const first = await run('--once').ended
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Synced') })
  await commit('2')
  const second = await run('--once', '--notify', origin, '--notify-secret-file', join(folder, 'secret')).ended
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('done: update') })
  expect(received.map((body) => JSON.parse(body))).toMatchObject([
    { type: 'dev.espalier.state', data: { state: 'Synced', applied: { done: [expect.stringMatching(/^update /)] } } },
  ])

  // The data folder is readable by its owner only and does not contain the key.
  const key = /Key {2}(\S+)/.exec(second.stdout)?.[1] ?? 'none'
  const data = join(folder, 'data')
  expect((await stat(data)).mode & 0o077).toBe(0)
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) expect(await readFile(join(entry.parentPath, entry.name), 'utf8')).not.toContain(key)
  }

  // The operator's policies apply in addition to those of the repository.
  const policy = 'version: 1\npolicies:\n  - { name: small, level: deny, reason: Cost., rule: { maxSize: 2 } }\n'
  await writeFile(join(folder, 'operator.yaml'), policy)
  await commit('3')
  const denied = await run('--once', '--policy', join(folder, 'operator.yaml')).ended
  expect(denied).toMatchObject({ code: 3, stdout: expect.stringContaining('Blocked: Policy') })
  expect(await run('--once', '--ref', 'gone').ended).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('no ref gone'),
  })
})

// promise: committed-token
longTest(
  'git ignores the data folder inside the followed repository, which --repo names relative to the current folder',
  async () => {
    // In a process, because git runs in another folder.
    const flags = ['--data', '.espalier/agent', '--sandbox=../seed.yaml', '--once']
    const ended = await espalierAsProcess(['agent', 'run', '--repo', '.', ...flags], {}, join(folder, 'repo'))
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`${PROJECT}  Synced`) })
    git('add', '-A')
    expect(git('status', '--porcelain')).toBe('')
  },
)

test.each([
  [['--interval', '10s'], 'at least 60s'],
  [['--on-drift', 'maybe'], 'report, revert'],
  [['--notify-secret-file', 'seed.yaml'], '--notify'],
  [['--repo', 'docs'], 'remove the word `--repo`'],
])('agent run %j is rejected', async (flags, words) => {
  const ended = await espalier(['agent', 'run', '--data', join(folder, 'data'), ...flags])
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(words) })
})
