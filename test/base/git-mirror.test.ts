import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { gitSource } from '../../src/agent/index.ts'
import { commitInfo, fetchTip, isDescendant, openMirror, remoteTip, withoutCredentials } from '../../src/base/index.ts'
import { openGitServer } from '../git-server.ts'
import { longTest } from '../long-runs.ts'

let folder: string
let repo: string
const run = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: repo })
    .toString()
    .trim()
const commit = async (text: string): Promise<string> => {
  await writeFile(join(repo, 'espalier.yaml'), text)
  run('add', '.')
  run('commit', '-qm', text.slice(0, 10))
  return run('rev-parse', 'HEAD')
}
const mirror = () => openMirror(join(folder, 'mirror'), repo)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-mirror-'))
  repo = join(folder, 'repo')
  execFileSync('git', ['init', '-q', '-b', 'main', repo])
})
afterEach(() => rm(folder, { recursive: true }))

const fetched = async (ref = 'main'): Promise<string | undefined> => {
  const tip = await remoteTip(await mirror(), ref)
  return tip && fetchTip(await mirror(), tip)
}

// promise: agent-hooks
test('fetchTip fetches a branch with its history and checks nothing out', async () => {
  const first = await commit('one')
  expect(await fetched()).toBe(first)
  const second = await commit('two')
  expect(await fetched()).toBe(second)
  expect(await isDescendant(await mirror(), second, first)).toBe(true)
  expect((await commitInfo(await mirror(), second)).committedAt).toMatch(/^20\d\d-.*Z$/)
  expect(await readdir((await mirror()).folder)).toEqual(['.git'])
})

// promise: invalid-time
test.each(['400000000000 +0000', '1700000000 +9999', 'never'])(
  'committedAt is undefined for a commit whose date is %j',
  async (time) => {
    const first = await commit('one')
    const object = run('cat-file', '-p', first).replace(/^committer .*$/m, `committer a <a@b> ${time}`)
    await writeFile(join(folder, 'object'), `${object}\n`)
    const odd = run('hash-object', '-t', 'commit', '-w', '--literally', join(folder, 'object'))
    run('update-ref', 'refs/heads/main', odd)
    expect(await fetched()).toBe(odd)
    expect((await commitInfo(await mirror(), odd)).committedAt).toBeUndefined()
  },
)

test('an annotated tag resolves to its commit, and a branch takes precedence over a tag of the same name', async () => {
  const first = await commit('one')
  run('tag', '-a', 'v1', '-m', 'v1')
  run('tag', 'main')
  const second = await commit('two')
  expect(await fetched('v1')).toBe(first)
  expect(await fetched()).toBe(second)
})

test('isDescendant is false for a commit that rewritten history no longer contains', async () => {
  await commit('one')
  const second = await commit('two')
  await fetched()
  run('reset', '-q', '--hard', 'HEAD~1')
  const other = await commit('other')
  expect(await fetched()).toBe(other)
  expect(await isDescendant(await mirror(), other, second)).toBe(false)
})

test('remoteTip returns undefined for a missing ref and does not match a branch with the same suffix', async () => {
  await commit('one')
  run('branch', 'team/deploy')
  expect(await fetched('deploy')).toBeUndefined()
})

// promise: repository-url
test.each([
  ['ext::touch WAS_RUN', "transport 'ext' not allowed"],
  ['--upload-pack=touch WAS_RUN', 'git ls-remote failed'],
  ['git://127.0.0.1/x', "transport 'git' not allowed"],
])('git does not run the command in the repository URL %j', async (url, why) => {
  const marker = join(folder, 'was-run')
  const opened = await openMirror(join(folder, 'mirror'), url.replace('WAS_RUN', marker))
  await expect(remoteTip(opened, 'main')).rejects.toMatchObject({
    code: 'E_GIT',
    message: expect.stringContaining(why),
  })
  expect(await readdir(folder)).not.toContain('was-run')
})

describe('a private repository over http', () => {
  let server: string
  beforeEach(async () => {
    server = await openGitServer(folder, 'hunter2')
    // Ignores the git configuration of the user who runs the tests.
    vi.stubEnv('HOME', folder)
    vi.stubEnv('XDG_CONFIG_HOME', folder)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })
  const read = async () => {
    const opened = await openMirror(join(folder, 'mirror'), `${server}/repo`)
    const tip = await remoteTip(opened, 'main')
    return tip && fetchTip(opened, tip)
  }

  test("is fetched with the user's credential helper", async () => {
    const first = await commit('one')
    await writeFile(
      join(folder, '.gitconfig'),
      '[credential]\n\thelper = "!f() { echo username=reader; echo password=hunter2; }; f"\n',
    )
    expect(await read()).toBe(first)
  })

  test('is rejected without a prompt if there is no credential helper', async () => {
    await commit('one')
    await expect(read()).rejects.toMatchObject({
      code: 'E_GIT',
      message: expect.stringContaining('terminal prompts disabled'),
    })
  })
})

describe('a repository with a long history', () => {
  const grow = (bytes: number) => commit(randomBytes(bytes / 2).toString('hex'))

  // promise: large-history
  // hint: Keep manifests in a separate repository.
  test('is rejected if it exceeds the size limit, and is not fetched again', async () => {
    await grow(256 * 1024)
    const source = gitSource({ repo, ref: 'main', paths: [], folder: join(folder, 'mirror'), maxBytes: 64 * 1024 })
    const refusal: unknown = await source.read().catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'E_GIT', message: expect.stringContaining('is not used') })
    expect(await source.read().catch((error: unknown) => error)).toBe(refusal)
    const separate = join(folder, 'separate')
    execFileSync('git', ['init', '-q', '-b', 'main', separate])
    repo = separate
    await commit('small')
    await gitSource({ repo, ref: 'main', paths: [], folder: join(folder, 'other'), maxBytes: 64 * 1024 }).read()
  })

  // promise: large-history
  longTest('loses unreachable objects and leftovers of a killed fetch', async () => {
    await grow(256 * 1024)
    const pack = join((await mirror()).folder, '.git', 'objects', 'pack')
    await fetched()
    await writeFile(join(pack, 'tmp_pack_x'), 'left')
    run('checkout', '-q', '--orphan', 'small')
    await writeFile(join(repo, 'espalier.yaml'), 'small')
    run('commit', '-qam', 'small')
    run('branch', '-M', 'main')
    const narrow = await openMirror(join(folder, 'mirror'), repo, 64 * 1024)
    const tip = await remoteTip(narrow, 'main')
    // The mirror keeps the large commit until it has fetched the next one.
    if (tip !== undefined) await fetchTip(narrow, tip).catch(() => undefined)
    expect(tip && (await fetchTip(narrow, tip))).toBe(run('rev-parse', 'HEAD'))
    expect(await readdir(pack)).not.toContain('tmp_pack_x')
  })

  longTest('is stored in few pack files', async () => {
    const pack = join((await mirror()).folder, '.git', 'objects', 'pack')
    await commit('one')
    await fetched()
    const [own = ''] = (await readdir(pack)).flatMap((name) => /^(.*)\.pack$/.exec(name)?.[1] ?? [])
    for (let copy = 0; copy < 51; copy += 1) {
      for (const end of ['pack', 'idx'])
        await copyFile(join(pack, `${own}.${end}`), join(pack, `pack-${String(copy).padStart(40, '0')}.${end}`))
    }
    await commit('two')
    await fetched()
    expect((await readdir(pack)).filter((name) => name.endsWith('.pack')).length).toBeLessThan(3)
  })
})

// promise: repository-password
test('no error message contains the password of a repository URL', async () => {
  const opened = await openMirror(join(folder, 'mirror'), 'http://user:hunter2@127.0.0.1:9/repo.git')
  const error = await remoteTip(opened, 'main').catch((thrown: unknown) => thrown)
  expect(String(error)).not.toContain('hunter2')
  for (const url of ['https://user:hunter2@host/x', 'https://user:hunt@er2@host/x'])
    expect(withoutCredentials(url)).toBe('https://host/x')
})
