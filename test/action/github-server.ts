/** GitHub's REST API on loopback: keeps comments, and holds every request against GitHub's own OpenAPI description. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { onTestFinished } from 'vitest'

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly schema: { readonly type?: string }
}
interface GitHubOperation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } }
}
const document = JSON.parse(readFileSync('node_modules/@octokit/openapi/generated/api.github.com.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, GitHubOperation>>>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}
const ajv = new Ajv({ strict: false, coerceTypes: true, formats: { timezone: true, repo: true } })
addFormats.default(ajv)
ajv.addSchema({ $id: 'github', components: document.components } as object)
const validators = new Map<object, ValidateFunction>()

const problemsOf = (schema: object, value: unknown): readonly string[] => {
  const validate =
    validators.get(schema) ?? ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"github#/')))
  validators.set(schema, validate)
  return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Where a request is not what GitHub describes. */
const undescribed = (method: string, url: URL, body: unknown): readonly string[] => {
  const entry = Object.entries(document.paths).find(
    ([path, item]) =>
      method.toLowerCase() in item && new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url.pathname),
  )
  const operation = entry?.[1][method.toLowerCase()]
  if (operation === undefined) return [`${method} ${url.pathname} is no route of GitHub`]
  const parameters = (operation.parameters ?? []).map((parameter) =>
    parameter.$ref === undefined ? parameter : document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''],
  )
  const known = new Map(parameters.flatMap((one) => (one?.in === 'query' ? [[one.name, one.schema] as const] : [])))
  const problems = [...url.searchParams].flatMap(([name, value]) => {
    const schema = known.get(name)
    return schema === undefined
      ? [`unknown query parameter ${name}`]
      : problemsOf({ properties: { v: schema } }, { v: value })
  })
  const schema = operation.requestBody?.content['application/json'].schema
  return schema === undefined ? problems : [...problems, ...problemsOf(schema, body)]
}

export interface StoredComment {
  readonly id: number
  readonly issue: number
  readonly login: string
  body: string
  /** Who changed it last. */
  editor?: string
}

export interface Fault {
  readonly method?: string
  readonly path?: RegExp
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  times: number
  /** Runs before it is answered. */
  readonly also?: () => void
}

export class GitHubServer {
  readonly comments: StoredComment[] = []
  readonly requests: string[] = []
  /** What GitHub's description does not know. */
  readonly problems: string[] = []
  readonly faults: Fault[] = []
  /** By commit: the merged pull request that brought it. */
  readonly merged = new Map<string, number>()
  /** By pull request: its last commit; absent: the one that was merged. */
  readonly heads = new Map<number, string>()
  login: string | undefined = 'github-actions[bot]'
  url = ''
  #next = 1

  add(issue: number, login: string, body: string): StoredComment {
    const comment = { id: this.#next, issue, login, body }
    this.#next += 1
    this.comments.push(comment)
    return comment
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url)
    const method = request.method ?? 'GET'
    const raw = await text(request)
    const body: unknown = raw === '' ? undefined : JSON.parse(raw)
    this.requests.push(`${method} ${url.pathname}`)
    const answer = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    }
    if (request.headers.authorization !== 'Bearer gh-token-123') return answer(401, { message: 'Bad credentials' })
    const fault = this.faults.find(
      (one) =>
        one.times > 0 &&
        (one.method === undefined || one.method === method) &&
        (one.path === undefined || one.path.test(url.pathname)),
    )
    if (fault !== undefined) {
      fault.times -= 1
      fault.also?.()
      return answer(fault.status, { message: 'an injected fault' }, fault.headers)
    }
    // Not part of the REST description.
    if (url.pathname === '/graphql') {
      const { variables } = body as { readonly variables?: { readonly id: string } }
      if (variables !== undefined) return answer(200, this.#authorship(variables.id))
      return this.login === undefined ? answer(403, {}) : answer(200, { data: { viewer: { login: this.login } } })
    }
    this.problems.push(...undescribed(method, url, body))
    const parts = url.pathname.split('/')
    if (parts[4] === 'commits') {
      const number = this.merged.get(parts[5] ?? '')
      const pull = { number, merged_at: '2026-01-01T00:00:00Z', base: { ref: 'main' } }
      return answer(200, number === undefined ? [] : [{ ...pull, head: { sha: this.heads.get(number) ?? parts[5] } }])
    }
    if (method === 'GET') {
      const issue = Number(parts[5])
      const size = Number(url.searchParams.get('per_page') ?? 30)
      const from = (Number(url.searchParams.get('page') ?? 1) - 1) * size
      const own = this.comments.filter((comment) => comment.issue === issue)
      return answer(200, own.slice(from, from + size).map(this.#show))
    }
    if (method === 'DELETE') {
      const at = this.comments.findIndex(({ id }) => id === Number(parts[6]))
      if (at < 0) return answer(404, { message: 'Not Found' })
      this.comments.splice(at, 1)
      response.writeHead(204).end()
      return
    }
    const sent = (body as { readonly body: string }).body
    if (sent.length > 65_536) return answer(422, { message: 'Body is too long (maximum is 65536 characters)' })
    if (method === 'POST') return answer(201, this.#show(this.add(Number(parts[5]), this.login ?? 'unknown', sent)))
    const comment = this.comments.find(({ id }) => id === Number(parts[6]))
    if (comment === undefined) return answer(404, { message: 'Not Found' })
    comment.body = sent
    comment.editor = this.login ?? 'unknown'
    return answer(200, this.#show(comment))
  }

  /** A comment and its authors, as GraphQL has them: apps without `[bot]`. */
  #authorship(nodeId: string): object {
    const comment = this.comments.find(({ id }) => `IC_${id}` === nodeId)
    const actor = (login: string | undefined) => (login === undefined ? null : { login: login.replace(/\[bot\]$/, '') })
    const node = comment && {
      body: comment.body,
      author: actor(comment.login),
      lastEditedAt: comment.editor === undefined ? null : '2026-01-01T00:00:00Z',
      editor: actor(comment.editor),
    }
    return { data: { viewer: { login: this.login }, node } }
  }

  #show = ({ id, issue, login, body }: StoredComment) => ({
    id,
    node_id: `IC_${id}`,
    body,
    user: { login },
    html_url: `https://github.com/acme/shop/pull/${issue}#issuecomment-${id}`,
  })
}

export const openGitHubServer = async (): Promise<GitHubServer> => {
  const github = new GitHubServer()
  const server = createServer((request, response) => {
    void github.handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  github.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => void server.close())
  return github
}
