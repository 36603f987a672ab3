/** GitHub's REST API on loopback. Stores comments, and validates every request against GitHub's OpenAPI description. */
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
/** Ajv accepts `nullable` only next to a `type`. */
const withNull = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !('nullable' in value) || 'type' in value) return value
  const { nullable: _nullable, ...rest } = value
  return { anyOf: [rest, { type: 'null' }] }
}
const document = JSON.parse(readFileSync('node_modules/@octokit/openapi/generated/api.github.com.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, GitHubOperation>>>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}
const routes = Object.entries(document.paths).map(([path, item]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  item,
}))
// Checking the schemas themselves would take longer than compiling them.
const ajv = new Ajv({
  strict: false,
  validateSchema: false,
  coerceTypes: true,
  formats: { timezone: true, repo: true },
})
addFormats.default(ajv)
const validators = new Map<object, ValidateFunction>()

/** The schemas of the requests that the Action sends contain no references into the document. */
const problemsOf = (schema: object, value: unknown): readonly string[] => {
  const validate = validators.get(schema) ?? ajv.compile(JSON.parse(JSON.stringify(schema), withNull))
  validators.set(schema, validate)
  return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** How a request deviates from GitHub's description. */
const undescribed = (method: string, url: URL, body: unknown): readonly string[] => {
  const verb = method.toLowerCase()
  const operation = routes.find(({ pattern, item }) => verb in item && pattern.test(url.pathname))?.item[verb]
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
  /** The last editor. */
  editor?: string
}

export interface Fault {
  readonly method?: string
  readonly path?: RegExp
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  times: number
  /** Called before the response. */
  readonly also?: () => void
}

export interface StoredIssue {
  readonly number: number
  title: string
  body: string
  state: string
  labels: readonly string[]
}

export interface StoredPull {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly head: { readonly sha: string; readonly ref: string; readonly repo: { readonly full_name: string } }
  readonly base: { readonly sha: string; readonly ref: string }
}

interface Request {
  readonly url: URL
  /** The route's captured groups. */
  readonly parts: readonly string[]
  readonly body: Readonly<Record<string, unknown>>
}

interface Answer {
  readonly status: number
  readonly value?: unknown
}

type Route = readonly [method: string, path: RegExp, answer: (request: Request) => Answer]

const NOT_FOUND: Answer = { status: 404, value: { message: 'Not Found' } }
const ok = (value: unknown): Answer => ({ status: 200, value })

export class GitHubServer {
  readonly comments: StoredComment[] = []
  readonly issues: StoredIssue[] = []
  /** Open pull requests. */
  readonly pulls: StoredPull[] = []
  readonly requests: string[] = []
  /** Deviations from GitHub's description. */
  readonly problems: string[] = []
  readonly faults: Fault[] = []
  /** The merged pull request of each commit. */
  readonly merged = new Map<string, number>()
  /** The last commit of each pull request. If absent, the merged commit is used. */
  readonly heads = new Map<number, string>()
  login: string | undefined = 'github-actions[bot]'
  /** The server's clock, in milliseconds. */
  now = () => Date.now()
  /** Called before a comment is stored. */
  onWrite = () => {}
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
      response
        .writeHead(status, { 'content-type': 'application/json', date: new Date(this.now()).toUTCString(), ...headers })
        .end(value === undefined ? '' : JSON.stringify(value))
    }
    if (!/^(Bearer|token) gh-token-123$/.test(request.headers.authorization ?? '')) {
      return answer(401, { message: 'Bad credentials' })
    }
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
    // GraphQL is not part of GitHub's REST description.
    if (url.pathname !== '/graphql') this.problems.push(...undescribed(method, url, body))
    for (const [of, path, handle] of this.#routes) {
      const parts = of === method ? path.exec(url.pathname) : null
      if (parts === null) continue
      const { status, value } = handle({ url, parts: parts.slice(1), body: (body ?? {}) as Request['body'] })
      return answer(status, value)
    }
    answer(404, { message: `The fake GitHub has no ${method} ${url.pathname}` })
  }

  readonly #routes: readonly Route[] = [
    ['POST', /^\/graphql$/, ({ body }) => this.#graphql(body)],
    ['GET', /\/commits\/([0-9a-f]+)\/pulls$/, ({ parts: [sha = ''] }) => this.#pullsOf(sha)],
    ['GET', /\/issues\/(\d+)\/comments$/, ({ parts: [issue], url }) => ok(this.#commentsOf(Number(issue), url))],
    ['POST', /\/issues\/(\d+)\/comments$/, ({ parts: [issue], body }) => this.#write(Number(issue), undefined, body)],
    ['PATCH', /\/issues\/comments\/(\d+)$/, ({ parts: [id], body }) => this.#write(0, Number(id), body)],
    ['DELETE', /\/issues\/comments\/(\d+)$/, ({ parts: [id] }) => this.#delete(Number(id))],
    ['GET', /\/pulls$/, ({ url }) => ok(this.#openPulls(url))],
    ['POST', /\/pulls$/, ({ body }) => this.#openPull(body)],
    ['GET', /\/pulls\/(\d+)$/, ({ parts: [number] }) => this.#pull(Number(number))],
    ['PATCH', /\/pulls\/(\d+)$/, ({ parts: [number], body }) => this.#editPull(Number(number), body)],
    ['GET', /\/issues$/, ({ url }) => ok(this.#openIssues(url))],
    ['POST', /\/issues$/, ({ body }) => this.#open(body)],
    ['PATCH', /\/issues\/(\d+)$/, ({ parts: [number], body }) => this.#edit(Number(number), body)],
  ]

  #pullsOf(sha: string): Answer {
    const number = this.merged.get(sha)
    const pull = { number, merged_at: '2026-01-01T00:00:00Z', base: { ref: 'main' } }
    return ok(number === undefined ? [] : [{ ...pull, head: { sha: this.heads.get(number) ?? sha } }])
  }

  #commentsOf(issue: number, url: URL): readonly object[] {
    const size = Number(url.searchParams.get('per_page') ?? 30)
    const from = (Number(url.searchParams.get('page') ?? 1) - 1) * size
    const own = this.comments.filter((comment) => comment.issue === issue)
    return own.slice(from, from + size).map(this.#show)
  }

  #write(issue: number, id: number | undefined, { body }: Request['body']): Answer {
    const sent = String(body)
    this.onWrite()
    if (sent.length > 65_536) {
      return { status: 422, value: { message: 'Body is too long (maximum is 65536 characters)' } }
    }
    if (id === undefined) return { status: 201, value: this.#show(this.add(issue, this.login ?? 'unknown', sent)) }
    const comment = this.comments.find((one) => one.id === id)
    if (comment === undefined) return NOT_FOUND
    comment.body = sent
    comment.editor = this.login ?? 'unknown'
    return ok(this.#show(comment))
  }

  #delete(id: number): Answer {
    const at = this.comments.findIndex((one) => one.id === id)
    if (at < 0) return NOT_FOUND
    this.comments.splice(at, 1)
    return { status: 204 }
  }

  #openPulls(url: URL): readonly object[] {
    const [head, base] = [url.searchParams.get('head'), url.searchParams.get('base')]
    return this.pulls.filter(
      (one) => (head === null || head.endsWith(`:${one.head.ref}`)) && (base === null || one.base.ref === base),
    )
  }

  #openPull({ head, base, title, body }: Request['body']): Answer {
    const repo = { full_name: 'acme/shop' }
    const pull = { number: 50 + this.pulls.length, title: String(title), body: String(body) }
    const stored = { ...pull, head: { sha: '', ref: String(head), repo }, base: { sha: '', ref: String(base) } }
    this.pulls.push(stored)
    return { status: 201, value: stored }
  }

  #pull(number: number): Answer {
    const pull = this.pulls.find((one) => one.number === number)
    return pull === undefined ? NOT_FOUND : ok({ ...pull, merged: false })
  }

  #editPull(number: number, changes: Request['body']): Answer {
    const pull = this.pulls.find((one) => one.number === number)
    return pull === undefined ? NOT_FOUND : ok(Object.assign(pull, changes))
  }

  #openIssues(url: URL): readonly object[] {
    const [state, label] = [url.searchParams.get('state'), url.searchParams.get('labels')]
    return this.issues
      .filter((one) => (state === null || one.state === state) && (label === null || one.labels.includes(label)))
      .map((one) => ({ ...one }))
  }

  #open({ title, body, labels = [] }: Request['body']): Answer {
    const issue = { number: 100 + this.issues.length, title: String(title), body: String(body), state: 'open' }
    this.issues.push({ ...issue, labels: labels as readonly string[] })
    return { status: 201, value: issue }
  }

  #edit(number: number, changes: Request['body']): Answer {
    const issue = this.issues.find((one) => one.number === number)
    return issue === undefined ? NOT_FOUND : ok(Object.assign(issue, changes))
  }

  #graphql({ variables }: Request['body']): Answer {
    if (this.login === undefined) return { status: 403, value: {} }
    if (variables !== undefined) return ok(this.#authorship((variables as { readonly id: string }).id))
    return ok({ data: { viewer: { login: this.login } } })
  }

  /** A comment and its authors as in GraphQL, where apps have no `[bot]`. */
  #authorship(nodeId: string): object {
    const comment = this.comments.find(({ id }) => `IC_${id}` === nodeId)
    const actor = (login: string | undefined) => {
      if (login === undefined) return null
      const [, bot] = /^(.*)\[bot\]$/.exec(login) ?? []
      return bot === undefined ? { __typename: 'User', login } : { __typename: 'Bot', login: bot }
    }
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
