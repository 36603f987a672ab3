import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { GitHubError, openGitHub } from '../../src/action/github.ts'

const openOn = async (respond: RequestListener) => {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const github = openGitHub({ GITHUB_API_URL: url }, 'token', 'acme/shop')
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
