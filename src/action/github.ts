/** The parts of GitHub's API that the Action uses. */
import { EnvHttpProxyAgent, errors, interceptors, type RetryHandler, request } from 'undici'
import { z } from 'zod'
import { isLoopback, VERIFIED } from '../api/index.ts'
import { messageOf } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import type { PullRequest } from './event.ts'
import type { Environment } from './inputs.ts'

export interface Comment {
  readonly id: number
  /** The GraphQL id. */
  readonly nodeId: string
  readonly body: string
  readonly login: string
  readonly url: string
}

export interface CommitStatus {
  readonly context: string
  readonly state: 'success' | 'pending'
  readonly description: string
}

/**
 * A client for GitHub, opened by {@link openGitHub}. Unless documented otherwise, its methods throw a
 * {@link GitHubError} if a request fails.
 */
export type GitHub = ReturnType<typeof openGitHub>

/** GitHub rejected a request, or did not respond. */
export class GitHubError extends Error {
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.name = 'GitHubError'
    this.status = status
  }
}

const comment = z
  .object({
    id: z.number(),
    node_id: z.string().default(''),
    body: z.string().nullish(),
    html_url: z.string().default(''),
    user: z.object({ login: z.string() }).nullish(),
  })
  .transform(
    ({ id, node_id: nodeId, body, html_url: url, user }): Comment => ({
      id,
      nodeId,
      body: body ?? '',
      login: user?.login ?? '',
      url,
    }),
  )
const pull = z.object({ number: z.int(), merged_at: z.string().nullish() })
const onePull = z.object({
  head: z.object({ sha: z.string(), repo: z.object({ full_name: z.string() }).nullish() }),
  base: z.object({ sha: z.string() }),
  merged: z.boolean().nullish(),
})
const viewer = z.object({ login: z.string() })
const changedFile = z.object({ filename: z.string(), previous_filename: z.string().optional() })
const comparison = z.object({ status: z.string(), files: z.array(changedFile).optional() })
const graphqlErrors = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) })
const viewerShape = z.object({ data: z.object({ viewer }) })
/**
 * An account. GraphQL reports the login of an app as `name`, which a user could also have. REST, and GraphQL for the
 * viewer, report it as `name[bot]`.
 */
export const actor = z
  .object({ __typename: z.string(), login: z.string() })
  .transform(({ __typename: type, login }) => ({ type, login: type === 'Bot' ? `${login}[bot]` : login }))
export type Actor = z.output<typeof actor>
const authorshipShape = z.object({
  data: z.object({
    viewer,
    node: z.object({ body: z.string(), author: actor, lastEditedAt: z.string().nullable(), editor: actor.nullable() }),
  }),
})
const AUTHORSHIP =
  'query($id: ID!) { viewer { login } node(id: $id) { ... on IssueComment { body author { __typename login } lastEditedAt editor { __typename login } } } }'

const PAGE = 100

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface Answer {
  readonly status: number
  readonly body: unknown
}

const NOT_HTTPS =
  'GITHUB_API_URL and GITHUB_GRAPHQL_URL must be https URLs, because the token is never sent over plain http to another machine. Enable https on your GitHub server.'

/** @param repository `owner/name`. */
export const openGitHub = (env: Environment, token: string, repository: string) => {
  const root = env.GITHUB_API_URL || 'https://api.github.com'
  const graphql = env.GITHUB_GRAPHQL_URL || 'https://api.github.com/graphql'
  const repo = `${root}/repos/${repository}`
  const dispatcher = new EnvHttpProxyAgent({ connect: VERIFIED, requestTls: VERIFIED, proxyTls: VERIFIED }).compose(
    interceptors.retry({ retry: retryLater, throwOnError: false }),
  )

  let answeredAt: number | undefined
  const send = async (method: Method, url: string, body?: object): Promise<Answer> => {
    if (!isSafe(url)) throw new GitHubError(NOT_HTTPS)
    const noAnswer = (cause: unknown): never => {
      throw new GitHubError(`GitHub did not respond: ${messageOf(cause)}.`)
    }
    const answer = await request(url, {
      method,
      dispatcher,
      headersTimeout: 30_000,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'user-agent': `espalier/${VERSION}`,
        'x-github-api-version': '2022-11-28',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(noAnswer)
    const date = Date.parse(String(answer.headers.date))
    answeredAt = Number.isNaN(date) ? undefined : date / 1_000
    return { status: answer.statusCode, body: parse(await answer.body.text().catch(noAnswer)) }
  }
  /** @param what a phrase that completes the message "GitHub refused to ...". */
  const expect = (what: string, answer: Answer): unknown => {
    if (answer.status < 300) return answer.body
    const said = z.object({ message: z.string() }).safeParse(answer.body)
    const words = said.success && said.data.message !== '' ? `: ${said.data.message}` : ''
    throw new GitHubError(`GitHub refused to ${what} (status ${answer.status}${words}).`, answer.status)
  }
  const call = async <T>(what: string, shape: z.ZodType<T>, method: Method, url: string, body?: object): Promise<T> => {
    const parsed = shape.safeParse(expect(what, await send(method, url, body)))
    if (parsed.success) return parsed.data
    throw new GitHubError('GitHub returned an undocumented response.')
  }
  return {
    /** The login of the account that the token belongs to, or `undefined` if unknown. */
    identity: async (): Promise<string | undefined> => {
      // This query works with every kind of token, unlike the REST API.
      const answer = await send('POST', graphql, { query: '{ viewer { login } }' }).catch(() => undefined)
      const parsed = viewerShape.safeParse(answer?.body)
      return parsed.success ? parsed.data.data.viewer.login : undefined
    },
    comments: async (issue: number): Promise<readonly Comment[]> => {
      const all: Comment[] = []
      for (let page = 1; ; page += 1) {
        const url = `${repo}/issues/${issue}/comments?per_page=${PAGE}&page=${page}`
        const found = await call('list comments', z.array(comment), 'GET', url)
        all.push(...found)
        if (found.length < PAGE) return all
      }
    },
    createComment: (issue: number, body: string) =>
      call('comment', comment, 'POST', `${repo}/issues/${issue}/comments`, { body }),
    /** @returns `undefined` if the comment no longer exists. */
    updateComment: (id: number, body: string) =>
      unlessGone(call('edit a comment', comment, 'PATCH', `${repo}/issues/comments/${id}`, { body })),
    /** Succeeds even if the comment is already deleted. */
    deleteComment: (id: number) =>
      unlessGone(call('delete a comment', z.unknown(), 'DELETE', `${repo}/issues/comments/${id}`)),
    /** @returns `undefined` if there is no such pull request. */
    pullRequest: async (number: number): Promise<PullRequest | undefined> => {
      const found = await unlessGone(call('show a pull request', onePull, 'GET', `${repo}/pulls/${number}`))
      if (found === undefined) return undefined
      const { head, base, merged } = found
      return {
        number,
        baseSha: base.sha,
        headSha: head.sha,
        isFork: head.repo?.full_name !== repository,
        isMerged: merged === true,
      }
    },
    /**
     * The text of a comment that the token's account wrote, and its last editor if that is another account. `undefined`
     * if GitHub does not say.
     */
    provenText: async (id: string): Promise<{ readonly body: string; readonly editor?: string } | undefined> => {
      const answer = await send('POST', graphql, { query: AUTHORSHIP, variables: { id } }).catch(() => undefined)
      const parsed = authorshipShape.safeParse(answer?.body)
      if (!parsed.success) return undefined
      const { viewer, node } = parsed.data.data
      if (node.author.login !== viewer.login) return undefined
      // The editor's account may have been deleted.
      const editor = node.lastEditedAt === null ? viewer.login : (node.editor?.login ?? 'an unknown account')
      return { body: node.body, ...(editor === viewer.login ? {} : { editor }) }
    },
    /** The number of the merged pull request that contains a commit, if there is one. */
    mergedPullRequest: async (sha: string) => {
      const url = `${repo}/commits/${sha}/pulls?per_page=${PAGE}&page=1`
      const pulls = await call("list a commit's pull requests", z.array(pull), 'GET', url)
      return pulls.find(({ merged_at }) => typeof merged_at === 'string')?.number
    },
    /** When GitHub sent its newest answer, by its own clock, in seconds since 1970. `undefined` if it did not say. */
    answeredAt: () => answeredAt,
    /** Sends a GraphQL query about the repository. It gets `$owner` and `$name`, and the variables. */
    query: async <T>(what: string, shape: z.ZodType<T>, query: string, variables: object): Promise<T> => {
      const [owner, name] = repository.split('/')
      const body = { query, variables: { owner, name, ...variables } }
      const answer = expect(what, await send('POST', graphql, body))
      const refused = graphqlErrors.safeParse(answer)
      if (refused.success) throw new GitHubError(`GitHub refused to ${what}: ${refused.data.errors[0]?.message}.`)
      const parsed = z.object({ data: shape }).safeParse(answer)
      if (parsed.success) return parsed.data.data as T
      throw new GitHubError('GitHub returned an undocumented response.')
    },
    /**
     * How `head` relates to `base`: `identical`, `ahead`, `behind` or `diverged`, and the files that differ since their
     * common ancestor, at most 300. `undefined` if they have none.
     */
    compare: (base: string, head: string) =>
      unlessGone(call('compare commits', comparison, 'GET', `${repo}/compare/${base}...${head}?per_page=1`)),
    setStatus: (sha: string, status: CommitStatus) =>
      call('set a commit status', z.unknown(), 'POST', `${repo}/statuses/${sha}`, status),
    close: () => dispatcher.close(),
  }
}

/** Returns `undefined` if GitHub responds with 404. */
const unlessGone = <T>(calling: Promise<T>): Promise<T | undefined> =>
  calling.catch((error: unknown) => {
    if (error instanceof GitHubError && error.status === 404) return undefined
    throw error
  })

const isSafe = (url: string): boolean =>
  URL.canParse(url) && (new URL(url).protocol === 'https:' || isLoopback(new URL(url).hostname))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Decides whether to retry a request that GitHub rejected.

const ATTEMPTS = 4
const LONGEST_PAUSE_MS = 60_000
/** If a response for a secondary rate limit has no `Retry-After`, GitHub asks clients to wait for at least a minute. */
const UNSTATED_PAUSE_MS = 60_000
const SERVER_PAUSE_MS = 500

/** Retries after a rate limit. After a server error, retries only reads, because a write may have succeeded. */
const retryLater: RetryHandler.RetryCallback = (error, { state, opts }, done) => {
  const isRefused = error instanceof errors.RequestRetryError && state.counter < ATTEMPTS
  const wait = isRefused ? pauseFor(opts.method, error, state.counter) : undefined
  if (wait === undefined) done(error)
  else setTimeout(done, wait, null)
}

/** Milliseconds to wait before the retry, or `undefined` if a retry would not help or is not safe. */
const pauseFor = (method: string, refusal: errors.RequestRetryError, attempt: number): number | undefined => {
  const { statusCode: status, headers } = refusal
  const after = Number(headers['retry-after'] ?? Number.NaN)
  const isLimit =
    status === 429 || (status === 403 && (!Number.isNaN(after) || headers['x-ratelimit-remaining'] === '0'))
  if (isLimit) {
    const wait = Number.isNaN(after) ? UNSTATED_PAUSE_MS : after * 1_000
    return wait <= LONGEST_PAUSE_MS ? wait : undefined
  }
  return status >= 500 && method === 'GET' ? SERVER_PAUSE_MS * 2 ** (attempt - 1) : undefined
}
