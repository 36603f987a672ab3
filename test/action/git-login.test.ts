import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitLogin } from '../../src/action/git-login.ts'

test('git sends the token of the step to the GitHub server, in place of a stored one, and to no other server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-login-'))
  const git = (args: readonly string[], env: NodeJS.ProcessEnv = {}): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } })
  git(['init', '-q'])
  git(['config', 'http.https://github.com/.extraheader', 'AUTHORIZATION: basic c3RvcmVk'])
  const login = gitLogin({ 'INPUT_GITHUB-TOKEN': 'gh-token', GITHUB_SERVER_URL: 'https://github.com' })
  const headersFor = (url: string) => git(['config', '--get-urlmatch', 'http.extraheader', url], login).trim()
  expect(headersFor('https://github.com/acme/shop')).toBe(
    `AUTHORIZATION: basic ${Buffer.from('x-access-token:gh-token').toString('base64')}`,
  )
  // An empty value removes the headers before it.
  const all = git(['config', '--get-all', 'http.https://github.com/.extraheader'], login).split('\n')
  expect(all.indexOf('')).toBe(1)
  for (const url of ['https://github.com.evil.example/x', 'http://github.com/x', 'https://evil.example/x']) {
    expect(() => headersFor(url)).toThrow()
  }
  for (const server of ['http://ghe.example', 'not a URL', '']) {
    expect(gitLogin({ 'INPUT_GITHUB-TOKEN': 'gh-token', GITHUB_SERVER_URL: server })).toEqual({})
  }
})
