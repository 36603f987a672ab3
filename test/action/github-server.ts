/** GitHub on loopback. Stores comments, and validates every request against GitHub's descriptions of REST and GraphQL. */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { serve } from '../serve.ts'
import { answerGraphql, pages } from './github-graphql.ts'

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

export interface StoredReview {
  readonly login: string
  readonly at: number
  /** The default is the head. */
  readonly commit?: string
  /** The default is `APPROVED`. */
  readonly state?: string
  /** Whether the account has write access now. The default is true. */
  readonly isWriter?: boolean
}

export interface StoredCommit {
  readonly authors: readonly string[]
  readonly committer?: string
  /** Made by GitHub when somebody pressed "Update branch". */
  readonly isUpdate?: boolean
}

/** What GraphQL says of a pull request. */
export interface StoredHistory {
  head: string
  readonly author: string
  reviews: readonly StoredReview[]
  commits: readonly StoredCommit[]
  merged?: { readonly commit: string; readonly at: number }
}

export interface StoredStatus {
  readonly sha: string
  readonly context: string
  readonly state: string
  readonly description: string
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

type Route = readonly [method: string, path: RegExp, answer: (request: Request) => Answer | Promise<Answer>]

const NOT_FOUND: Answer = { status: 404, value: { message: 'Not Found' } }
const ok = (value: unknown): Answer => ({ status: 200, value })

interface ChangedFile {
  readonly filename: string
  readonly previous_filename?: string
}

export class GitHubServer {
  readonly comments: StoredComment[] = []
  readonly issues: StoredIssue[] = []
  /** Open pull requests. */
  readonly pulls: StoredPull[] = []
  readonly requests: string[] = []
  /** Deviations from GitHub's description. */
  readonly problems: string[] = []
  readonly faults: Fault[] = []
  readonly history = new Map<number, StoredHistory>()
  readonly statuses: StoredStatus[] = []
  /** The pull requests in the merge queue, with the commits of their groups. */
  queue: readonly { readonly number: number; readonly base: string; readonly head: string }[] = []
  /** The head of the branch `main`. */
  main = ''
  /** How a commit relates to another one. */
  compare: (base: string, head: string) => { readonly status: string; readonly files: readonly ChangedFile[] } =
    () => ({
      status: 'identical',
      files: [],
    })
  /** The merged pull request of each commit. */
  readonly merged = new Map<string, number>()
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
      const { status, value } = await handle({ url, parts: parts.slice(1), body: (body ?? {}) as Request['body'] })
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
    ['GET', /\/compare\/([0-9a-f]+)\.\.\.([0-9a-f]+)$/, ({ parts }) => this.#compare(parts)],
    ['POST', /\/statuses\/([0-9a-f]+)$/, ({ parts: [sha = ''], body }) => this.#setStatus(sha, body)],
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
    return ok(number === undefined ? [] : [{ number, merged_at: '2026-01-01T00:00:00Z' }])
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

  #compare([base = '', head = '']: readonly string[]): Answer {
    return ok(this.compare(base, head))
  }

  #setStatus(sha: string, { context, state, description }: Request['body']): Answer {
    const status = { sha, context: String(context), state: String(state), description: String(description) }
    this.statuses.push(status)
    return { status: 201, value: status }
  }

  async #graphql({ query, variables = {} }: Request['body']): Promise<Answer> {
    if (this.login === undefined) return { status: 403, value: {} }
    const login = this.login
    const root = {
      viewer: { login },
      node: ({ id }: { readonly id: string }) => {
        const comment = this.comments.find((one) => `IC_${one.id}` === id)
        return comment === undefined ? null : { __typename: 'IssueComment', ...commentOf(comment) }
      },
      repository: () => this.#repository,
    }
    const answer = (await answerGraphql(String(query), variables as object, root)) as { readonly errors?: unknown[] }
    this.problems.push(...(answer.errors ?? []).map(String))
    return ok(answer)
  }

  readonly #repository = {
    ref: () => ({ target: { __typename: 'Commit', oid: this.main } }),
    pullRequest: ({ number }: { readonly number: number }) =>
      this.#pullRequest(number, this.history.get(number) ?? { head: '', author: 'ann', reviews: [], commits: [] }),
    pullRequests: (args: { readonly first?: number; readonly after?: string | null }) => {
      const merged = [...this.history].filter(([, one]) => one.merged !== undefined)
      const newest = merged.sort(([, a], [, b]) => (b.merged?.at ?? 0) - (a.merged?.at ?? 0))
      return pages(newest.map(([number, one]) => this.#pullRequest(number, one) ?? {}))(args)
    },
    mergeQueue: () => ({
      entries: pages(
        this.queue.map(({ number, base, head }) => ({
          pullRequest: { number },
          baseCommit: { oid: base },
          headCommit: { oid: head },
        })),
      ),
    }),
  }

  #pullRequest(number: number, stored: StoredHistory | undefined): object | null {
    if (stored === undefined) return null
    const { head, author, reviews, commits, merged } = stored
    const at = new Date(merged?.at ?? 0).toISOString()
    return {
      number,
      headRefOid: head,
      author: actorOf(author),
      mergedAt: merged && at,
      updatedAt: at,
      mergeCommit: merged && { oid: merged.commit },
      comments: ({ last = 0 }) =>
        pages(
          this.comments
            .filter(({ issue }) => issue === number)
            .slice(-last)
            .map(commentOf),
        )({}),
      latestOpinionatedReviews: ({ writersOnly, ...args }: { readonly writersOnly: boolean }) =>
        pages(
          reviews
            .filter(({ isWriter = true }) => isWriter || !writersOnly)
            .map(({ login, at: submitted, commit = head, state = 'APPROVED', isWriter = true }) => ({
              state,
              submittedAt: new Date(submitted).toISOString(),
              authorCanPushToRepository: isWriter,
              author: actorOf(login),
              commit: { oid: commit },
            })),
        )(args),
      commits: pages(
        commits.map(({ authors, committer = authors[0] ?? '', isUpdate = false }) => ({
          commit: {
            committedViaWeb: isUpdate,
            parents: { totalCount: isUpdate ? 2 : 1 },
            committer: { user: isUpdate ? null : { login: committer } },
            authors: pages(authors.map((login) => ({ user: login === '' ? null : { login } }))),
          },
        })),
      ),
    }
  }

  #show = ({ id, issue, login, body }: StoredComment) => ({
    id,
    node_id: `IC_${id}`,
    body,
    user: { login },
    html_url: `https://github.com/acme/shop/pull/${issue}#issuecomment-${id}`,
  })
}

/** An account as in GraphQL, where apps have no `[bot]`. */
const actorOf = (login: string) => {
  const [, bot] = /^(.*)\[bot\]$/.exec(login) ?? []
  return bot === undefined ? { __typename: 'User', login } : { __typename: 'Bot', login: bot }
}

const commentOf = ({ id, issue, body, login, editor }: StoredComment) => ({
  body,
  url: `https://github.com/acme/shop/pull/${issue}#issuecomment-${id}`,
  author: actorOf(login),
  lastEditedAt: editor === undefined ? null : '2026-01-01T00:00:00Z',
  editor: editor === undefined ? null : actorOf(editor),
})

export const openGitHubServer = async (): Promise<GitHubServer> => {
  const github = new GitHubServer()
  const { origin } = await serve((request, response) =>
    github.handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error))),
  )
  github.url = origin
  return github
}
