import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { GitHubError, openGitHub } from '../../src/action/github.ts'

test('a response from GitHub that ends early is reported as a GitHub error', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('[', () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const github = openGitHub({ GITHUB_API_URL: url }, 'token', 'acme/shop')
  onTestFinished(() => github.close())
  await expect(github.comments(7)).rejects.toThrow(GitHubError)
})
