import { execFileSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { gitLogin } from '../../src/action/git-login.ts'
import { remoteCommit } from '../../src/base/index.ts'
import { openGitServer } from '../git-server.ts'
import { serve } from '../serve.ts'
import { makeRepository } from './run-action.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('git sends the token of the step to the GitHub server, in place of a stored one, and to no other server', async () => {
  const { folder, git, commit } = makeRepository()
  const head = commit('private')
  const server = await openGitServer(dirname(folder), 'gh-token')
  git('remote', 'add', 'origin', `${server}/${basename(folder)}`)
  git('config', `http.${server}/.extraheader`, `AUTHORIZATION: basic ${btoa('x-access-token:expired')}`)
  await expect(remoteCommit(folder, 'refs/heads/main')).rejects.toMatchObject({ code: 'E_GIT' })
  const login = gitLogin({ 'INPUT_GITHUB-TOKEN': 'gh-token', GITHUB_SERVER_URL: server })
  for (const [name, value] of Object.entries(login)) vi.stubEnv(name, value)
  expect(await remoteCommit(folder, 'refs/heads/main')).toBe(head)
  const headersFor = (url: string) =>
    execFileSync('git', ['config', '--get-urlmatch', 'http.extraheader', url], { cwd: folder, stdio: 'pipe' })
  for (const url of [
    server.replace('127.0.0.1', 'evil.example'),
    server.replace('http:', 'https:'),
    `${server}.evil.example`,
  ]) {
    expect(() => headersFor(`${url}/acme/shop`)).toThrow()
  }
  expect(headersFor(`${server}/acme/shop`).toString()).toContain(btoa('x-access-token:gh-token'))
  for (const other of ['http://ghe.example', 'not a URL', '']) {
    expect(gitLogin({ 'INPUT_GITHUB-TOKEN': 'gh-token', GITHUB_SERVER_URL: other })).toEqual({})
  }
})

// promise: workflow-token
test('git does not follow a redirect, to whose target it would send the token of the step', async () => {
  const { folder, git, commit } = makeRepository()
  commit('private')
  const elsewhere = await openGitServer(dirname(folder), 'gh-token')
  const { origin } = await serve(({ url }, response) => {
    response.writeHead(302, { location: `${elsewhere}${url}` }).end()
  })
  git('remote', 'add', 'origin', `${origin}/${basename(folder)}`)
  const login = gitLogin({ 'INPUT_GITHUB-TOKEN': 'gh-token', GITHUB_SERVER_URL: origin })
  for (const [name, value] of Object.entries(login)) vi.stubEnv(name, value)
  await expect(remoteCommit(folder, 'refs/heads/main')).rejects.toThrow('302')
})
