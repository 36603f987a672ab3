/** The GitHub token is sent only to GitHub. */
import { expect, onTestFinished, test } from 'vitest'
import { openGitHub } from '../../src/action/github.ts'
import { serve } from '../serve.ts'

const TOKEN = 'ghs_0123456789abcdef'

const open = (GITHUB_API_URL: string) => {
  const github = openGitHub({ GITHUB_API_URL, GITHUB_GRAPHQL_URL: `${GITHUB_API_URL}/graphql` }, TOKEN, 'acme/shop')
  onTestFinished(() => github.close())
  return github
}

// promise: workflow-token
test('the GitHub token is not sent over plain http to another machine', async () => {
  const wayOut = 'GITHUB_API_URL and GITHUB_GRAPHQL_URL must be https URLs'
  await expect(open('http://example.com').comments(1)).rejects.toThrow(wayOut)
  await expect(open('not an address').createComment(1, 'x')).rejects.toThrow(wayOut)
})

// promise: workflow-token
test('the GitHub token is not sent to the target of a redirect', async () => {
  const asked: string[] = []
  const { port: elsewhere } = await serve(({ url = '' }, response) => {
    asked.push(url)
    response.end('[]')
  })
  const { port } = await serve((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${elsewhere}/` }).end()
  })
  await expect(open(`http://127.0.0.1:${port}`).comments(1)).rejects.toThrow('status 307')
  expect(asked).toEqual([])
})
