import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitTime, fetchTip, isDescendant, openMirror, remoteTip, withoutCredentials } from '../../src/base/index.ts'

let folder: string
let repo: string
const run = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: repo })
    .toString()
    .trim()
const commit = async (text: string): Promise<string> => {
  await writeFile(join(repo, 'espalier.yaml'), text)
  run('add', '.')
  run('commit', '-qm', text)
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

test('a branch is fetched with its history, and nothing is checked out', async () => {
  const first = await commit('one')
  expect(await fetched()).toBe(first)
  const second = await commit('two')
  expect(await fetched()).toBe(second)
  expect(await isDescendant(await mirror(), second, first)).toBe(true)
  expect(await commitTime(await mirror(), second)).toMatch(/^20\d\d-.*Z$/)
  expect(await readdir((await mirror()).folder)).toEqual(['.git'])
})

test.each(['400000000000 +0000', '1700000000 +9999', 'never'])('a commit at %j has no time', async (time) => {
  const first = await commit('one')
  const object = run('cat-file', '-p', first).replace(/^committer .*$/m, `committer a <a@b> ${time}`)
  await writeFile(join(folder, 'object'), `${object}\n`)
  const odd = run('hash-object', '-t', 'commit', '-w', '--literally', join(folder, 'object'))
  run('update-ref', 'refs/heads/main', odd)
  expect(await fetched()).toBe(odd)
  expect(await commitTime(await mirror(), odd)).toBeUndefined()
})

test('an annotated tag names its commit, and a branch wins over a tag', async () => {
  const first = await commit('one')
  run('tag', '-a', 'v1', '-m', 'v1')
  run('tag', 'main')
  const second = await commit('two')
  expect(await fetched('v1')).toBe(first)
  expect(await fetched()).toBe(second)
})

test('a rewritten history is recognised', async () => {
  await commit('one')
  const second = await commit('two')
  await fetched()
  run('reset', '-q', '--hard', 'HEAD~1')
  const other = await commit('other')
  expect(await fetched()).toBe(other)
  expect(await isDescendant(await mirror(), other, second)).toBe(false)
})

test('a ref that is gone is not an error; a branch whose name only ends alike is not it', async () => {
  await commit('one')
  run('branch', 'team/deploy')
  expect(await fetched('deploy')).toBeUndefined()
})

test.each(['ext::sh -c "touch /tmp/espalier-was-here"', '--upload-pack=touch', 'git://127.0.0.1/x'])(
  '%s is not run',
  async (url) => {
    const opened = await openMirror(join(folder, 'mirror'), url)
    await expect(remoteTip(opened, 'main')).rejects.toMatchObject({ code: 'E_GIT' })
  },
)

test('no message shows the password of a URL', async () => {
  const opened = await openMirror(join(folder, 'mirror'), 'http://user:hunter2@127.0.0.1:9/repo.git')
  const error = await remoteTip(opened, 'main').catch((thrown: unknown) => thrown)
  expect(String(error)).not.toContain('hunter2')
  expect(withoutCredentials('https://user:hunter2@host/x')).toBe('https://host/x')
})
