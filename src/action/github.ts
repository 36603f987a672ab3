/** The parts of GitHub's API that the Action uses. */
import { EnvHttpProxyAgent, interceptors, request } from 'undici'
import { z } from 'zod'
import { isLoopback, VERIFIED } from '../api/index.ts'
import { VERSION } from '../model/version.ts'
import type { PullRequest } from './event.ts'
import { retryLater } from './github-retry.ts'
import type { Environment } from './inputs.ts'

export interface Comment {
  readonly id: number
  /** The GraphQL id. */
  readonly nodeId: string
  readonly body: string
  readonly login: string
  readonly url: string
}

/** The request body of GitHub's API. */
export interface CheckRun {
  readonly name: string
  readonly head_sha: string
  readonly status: 'completed'
  readonly conclusion: 'success' | 'failure'
  readonly output: {
    readonly title: string
    readonly summary: string
    readonly annotations: readonly {
      readonly path: string
      readonly start_line: number
      readonly end_line: number
      readonly annotation_level: 'failure' | 'warning'
      readonly title: string
      readonly message: string
    }[]
  }
}

export interface MergedPullRequest {
  readonly number: number
  readonly headSha: string
  /** The branch that it was merged into. */
  readonly base: string
}

export interface GitHub {
  /** The login of the token's account; `undefined` if unknown. */
  identity(): Promise<string | undefined>
  comments(issue: number): Promise<readonly Comment[]>
  createComment(issue: number, body: string): Promise<Comment>
  /** `undefined` if it no longer exists. */
  updateComment(id: number, body: string): Promise<Comment | undefined>
  /** Succeeds if it is already deleted. */
  deleteComment(id: number): Promise<void>
  /** `undefined` if there is no such pull request. */
  pullRequest(number: number): Promise<PullRequest | undefined>
  /** Folds a comment as outdated. */
  minimizeComment(nodeId: string): Promise<void>
  /** Of an issue or a pull request. */
  labels(issue: number): Promise<readonly string[]>
  addLabels(issue: number, names: readonly string[]): Promise<void>
  /** Succeeds if it is already removed. */
  removeLabel(issue: number, name: string): Promise<void>
  /** @returns its id. */
  createCheckRun(run: CheckRun): Promise<number>
  /** Adds annotations. */
  annotateCheckRun(id: number, output: CheckRun['output']): Promise<void>
  /** The text of a comment by the token's account, and the last editor if that is somebody else; `undefined` if unknown. */
  provenText(nodeId: string): Promise<{ readonly body: string; readonly editor?: string } | undefined>
  /** The merged pull requests that contain a commit. */
  mergedPullRequests(sha: string): Promise<readonly MergedPullRequest[]>
  close(): Promise<void>
}

/** GitHub refused a request, or did not answer. */
export class GitHubError extends Error {
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.name = 'GitHubError'
    this.status = status
  }
}

const commentShape = z.object({
  id: z.number(),
  node_id: z.string().default(''),
  body: z.string().nullish(),
  html_url: z.string().default(''),
  user: z.object({ login: z.string() }).nullish(),
})
const pullShape = z.array(
  z.object({
    number: z.int(),
    merged_at: z.string().nullish(),
    head: z.object({ sha: z.string() }),
    base: z.object({ ref: z.string() }),
  }),
)
const onePullShape = z.object({
  head: z.object({ sha: z.string(), repo: z.object({ full_name: z.string() }).nullish() }),
  base: z.object({ sha: z.string() }),
  merged: z.boolean().nullish(),
})
const viewer = z.object({ login: z.string() })
const viewerShape = z.object({ data: z.object({ viewer }) })
/** GraphQL calls an app `name`, as a user could be called; as the viewer, and in REST, it is `name[bot]`. */
const actor = z
  .object({ __typename: z.string(), login: z.string() })
  .transform(({ __typename: type, login }) => (type === 'Bot' ? `${login}[bot]` : login))
const authorshipShape = z.object({
  data: z.object({
    viewer,
    node: z.object({ body: z.string(), author: actor, lastEditedAt: z.string().nullable(), editor: actor.nullable() }),
  }),
})
const AUTHORSHIP =
  'query($id: ID!) { viewer { login } node(id: $id) { ... on IssueComment { body author { __typename login } lastEditedAt editor { __typename login } } } }'

const MINIMIZE =
  'mutation($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) { minimizedComment { isMinimized } } }'
const minimizedShape = z.object({
  data: z.object({ minimizeComment: z.object({ minimizedComment: z.object({ isMinimized: z.literal(true) }) }) }),
})

const PAGE = 100

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface Answer {
  readonly status: number
  readonly body: unknown
}

/** @param repository `owner/name`. */
export const openGitHub = (env: Environment, token: string, repository: string): GitHub => {
  const root = (env.GITHUB_API_URL ?? '') || 'https://api.github.com'
  const graphql = (env.GITHUB_GRAPHQL_URL ?? '') || 'https://api.github.com/graphql'
  const dispatcher = new EnvHttpProxyAgent({ connect: VERIFIED, requestTls: VERIFIED, proxyTls: VERIFIED }).compose(
    interceptors.retry({ retry: retryLater, throwOnError: false }),
  )

  const send = async (method: Method, url: string, body?: object): Promise<Answer> => {
    if (!isSafe(url)) throw new GitHubError('The token is never sent over plain http to another machine.')
    const noAnswer = (cause: unknown): never => {
      throw new GitHubError(`GitHub did not respond: ${cause instanceof Error ? cause.message : String(cause)}`)
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
    return { status: answer.statusCode, body: parse(await answer.body.text().catch(noAnswer)) }
  }

  const expect = (answer: Answer, what: string): unknown => {
    if (answer.status < 300) return answer.body
    const said = z.object({ message: z.string() }).safeParse(answer.body)
    const words = said.success ? `: ${said.data.message}` : ''
    throw new GitHubError(`GitHub refused to ${what} (status ${answer.status}${words}).`, answer.status)
  }
  const read = <T>(shape: z.ZodType<T>, value: unknown): T => {
    const parsed = shape.safeParse(value)
    if (parsed.success) return parsed.data
    throw new GitHubError('GitHub returned an undocumented answer.')
  }
  const toComment = (value: unknown): Comment => {
    const { id, node_id: nodeId, body, html_url, user } = read(commentShape, value)
    return { id, nodeId, body: body ?? '', login: user?.login ?? '', url: html_url }
  }

  return {
    identity: async () => {
      // Works with every kind of token, unlike the REST API.
      const answer = await send('POST', graphql, { query: '{ viewer { login } }' }).catch(() => undefined)
      const parsed = viewerShape.safeParse(answer?.body)
      return parsed.success ? parsed.data.data.viewer.login : undefined
    },
    comments: async (issue) => {
      const all: Comment[] = []
      for (let page = 1; ; page += 1) {
        const url = `${root}/repos/${repository}/issues/${issue}/comments?per_page=${PAGE}&page=${page}`
        const found = read(z.array(z.unknown()), expect(await send('GET', url), 'list comments'))
        all.push(...found.map(toComment))
        if (found.length < PAGE) return all
      }
    },
    createComment: async (issue, body) =>
      toComment(
        expect(await send('POST', `${root}/repos/${repository}/issues/${issue}/comments`, { body }), 'comment'),
      ),
    updateComment: async (id, body) => {
      const answer = await send('PATCH', `${root}/repos/${repository}/issues/comments/${id}`, { body })
      return answer.status === 404 ? undefined : toComment(expect(answer, 'edit a comment'))
    },
    deleteComment: async (id) => {
      const answer = await send('DELETE', `${root}/repos/${repository}/issues/comments/${id}`)
      if (answer.status !== 404) expect(answer, 'delete a comment')
    },
    pullRequest: async (number) => {
      const answer = await send('GET', `${root}/repos/${repository}/pulls/${number}`)
      if (answer.status === 404) return undefined
      const { head, base, merged } = read(onePullShape, expect(answer, 'show a pull request'))
      return {
        number,
        baseSha: base.sha,
        headSha: head.sha,
        isFork: head.repo?.full_name !== repository,
        isMerged: merged === true,
      }
    },
    minimizeComment: async (id) => {
      read(
        minimizedShape,
        expect(await send('POST', graphql, { query: MINIMIZE, variables: { id } }), 'fold a comment'),
      )
    },
    labels: async (issue) => {
      const url = `${root}/repos/${repository}/issues/${issue}/labels?per_page=${PAGE}`
      const found = read(z.array(z.object({ name: z.string() })), expect(await send('GET', url), 'list labels'))
      return found.map(({ name }) => name)
    },
    addLabels: async (issue, labels) => {
      expect(await send('POST', `${root}/repos/${repository}/issues/${issue}/labels`, { labels }), 'add a label')
    },
    removeLabel: async (issue, name) => {
      const url = `${root}/repos/${repository}/issues/${issue}/labels/${encodeURIComponent(name)}`
      const answer = await send('DELETE', url)
      if (answer.status !== 404) expect(answer, 'remove a label')
    },
    createCheckRun: async (run) => {
      const answer = expect(await send('POST', `${root}/repos/${repository}/check-runs`, run), 'make a check run')
      return read(z.object({ id: z.number() }), answer).id
    },
    annotateCheckRun: async (id, output) => {
      expect(await send('PATCH', `${root}/repos/${repository}/check-runs/${id}`, { output }), 'annotate a check run')
    },
    provenText: async (id) => {
      const answer = await send('POST', graphql, { query: AUTHORSHIP, variables: { id } }).catch(() => undefined)
      const parsed = authorshipShape.safeParse(answer?.body)
      if (!parsed.success) return undefined
      const { viewer, node } = parsed.data.data
      if (node.author !== viewer.login) return undefined
      // The editor's account may have been deleted.
      const editor = node.lastEditedAt === null ? viewer.login : (node.editor ?? 'an unknown account')
      return { body: node.body, ...(editor === viewer.login ? {} : { editor }) }
    },
    mergedPullRequests: async (sha) => {
      const answer = await send('GET', `${root}/repos/${repository}/commits/${sha}/pulls?per_page=${PAGE}&page=1`)
      const pulls = read(pullShape, expect(answer, 'list the pull requests of a commit'))
      return pulls.flatMap(({ number, merged_at, head, base }) =>
        typeof merged_at === 'string' ? [{ number, headSha: head.sha, base: base.ref }] : [],
      )
    },
    close: () => dispatcher.close(),
  }
}

const isSafe = (url: string): boolean =>
  URL.canParse(url) && (new URL(url).protocol === 'https:' || isLoopback(new URL(url).hostname))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
