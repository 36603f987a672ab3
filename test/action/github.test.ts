import type { RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { GitHubError, openGitHub } from '../../src/action/github.ts'
import { serve } from '../serve.ts'

const openOn = async (respond: RequestListener) => {
  const { origin } = await serve(respond)
  const github = openGitHub({ GITHUB_API_URL: origin }, 'token', 'acme/shop')
  onTestFinished(() => github.close())
  return github
}

test('a response from GitHub that ends early is reported as a GitHub error', async () => {
  const github = await openOn((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('[', () => response.destroy())
  })
  await expect(github.comments(7)).rejects.toThrow(GitHubError)
})

test.each([
  ['{"message":"Bad credentials"}', '(status 401: Bad credentials).'],
  ['{"message":""}', '(status 401).'],
  ['', '(status 401).'],
])('if GitHub refuses with the body %j, the message ends with %s', async (body, end) => {
  const github = await openOn((_request, response) => response.writeHead(401).end(body))
  await expect(github.comments(7)).rejects.toThrow(end)
})
