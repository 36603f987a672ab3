/** Reads from GitHub what pull requests show, who approved them, and whether they were applied. */
import { z } from 'zod'
import { type Actor, actor, type GitHub } from './github.ts'

/** A comment by the token's own account. */
export interface OwnComment {
  readonly body: string
  readonly url: string
  /** The last editor, if it is another account. */
  readonly editor?: string
}

export interface MergedPull {
  readonly number: number
  readonly head: string
  /** The commit on the base branch. */
  readonly commit: string
  /** Milliseconds since 1970. */
  readonly mergedAt: number
  /** The newest ones, oldest first. */
  readonly comments: readonly OwnComment[]
}

export interface Review {
  readonly state: string
  /** `undefined` if the account was deleted. */
  readonly author?: Actor
  readonly canPush: boolean
  /** The head that was reviewed. */
  readonly commit: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** What decides whether a pull request is approved. */
export interface PullReviews {
  readonly number: number
  readonly head: string
  readonly author: string
  /** The newest review of each account with write access that approves, or requests changes. */
  readonly reviews: readonly Review[]
  /** Who wrote the commits, or `undefined` if there are too many commits to know. */
  readonly committers: ReadonlySet<string> | undefined
}

const oid = z.object({ oid: z.string() })
const time = z.iso.datetime().transform((text) => Date.parse(text))
const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() })
const comments = z.object({
  nodes: z.array(
    z.object({
      body: z.string(),
      url: z.string(),
      author: actor.nullable(),
      lastEditedAt: z.string().nullable(),
      editor: actor.nullable(),
    }),
  ),
})
const COMMENTS =
  'comments(last: 100) { nodes { body url author { __typename login } lastEditedAt editor { __typename login } } }'

/** Anyone with write access can edit any comment, so a comment counts only if its author was also its last editor. */
const ownOf = ({ nodes }: z.output<typeof comments>, viewer: string): readonly OwnComment[] =>
  nodes
    .filter(({ author }) => author?.login === viewer)
    .map(({ body, url, lastEditedAt, editor }) => {
      const last = lastEditedAt === null ? viewer : (editor?.login ?? 'an unknown account')
      return { body, url, ...(last === viewer ? {} : { editor: last }) }
    })

const MOST_MERGED = 100

const mergedShape = z.object({
  viewer: z.object({ login: z.string() }),
  repository: z.object({
    ref: z.object({ target: oid }).nullable(),
    pullRequests: z.object({
      pageInfo,
      nodes: z.array(
        z.object({
          number: z.int(),
          headRefOid: z.string(),
          mergedAt: time,
          updatedAt: time,
          mergeCommit: oid.nullable(),
          comments,
        }),
      ),
    }),
  }),
})
const MERGED = `query($owner: String!, $name: String!, $branch: String!, $ref: String!, $after: String) {
  viewer { login }
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) { target { oid } }
    pullRequests(states: MERGED, baseRefName: $branch, first: 25, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) {
      pageInfo { hasNextPage endCursor }
      nodes { number headRefOid mergedAt updatedAt mergeCommit { oid } ${COMMENTS} }
    }
  }
}`

/**
 * The head of a branch, and the pull requests that were merged into it, at most 100: those that were updated last.
 *
 * @param since in milliseconds since 1970. Pull requests that were not updated since then may be left out.
 * @returns with `isCut`, if there may be more that were updated since then.
 */
export const readMerged = async (github: GitHub, branch: string, since: number) => {
  const pulls: MergedPull[] = []
  let after: string | null = null
  for (;;) {
    const variables: object = { branch, ref: `refs/heads/${branch}`, after }
    const found = await github.query('list merged pull requests', mergedShape, MERGED, variables)
    const { viewer, repository }: z.output<typeof mergedShape> = found
    const { nodes, pageInfo: page } = repository.pullRequests
    for (const { number, headRefOid: head, mergedAt, mergeCommit, comments: all } of nodes) {
      if (mergeCommit === null) continue
      pulls.push({ number, head, commit: mergeCommit.oid, mergedAt, comments: ownOf(all, viewer.login) })
    }
    after = page.endCursor
    const isDone = !page.hasNextPage || (nodes.at(-1)?.updatedAt ?? since) < since
    if (isDone || pulls.length >= MOST_MERGED) return { head: repository.ref?.target.oid, pulls, isCut: !isDone }
  }
}

const openShape = z.object({
  viewer: z.object({ login: z.string() }),
  repository: z.object({ pullRequest: z.object({ comments }) }),
})
const OPEN = `query($owner: String!, $name: String!, $number: Int!) {
  viewer { login }
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ${COMMENTS} } }
}`

/** The newest comments on a pull request by the token's own account, oldest first. */
export const readOwnComments = async (github: GitHub, number: number): Promise<readonly OwnComment[]> => {
  const { viewer, repository } = await github.query('read comments', openShape, OPEN, { number })
  return ownOf(repository.pullRequest.comments, viewer.login)
}

const login = z.object({ user: z.object({ login: z.string() }).nullable() }).nullable()
const reviewsShape = z.object({
  repository: z.object({
    pullRequest: z.object({
      headRefOid: z.string(),
      author: actor.nullable(),
      latestOpinionatedReviews: z.object({
        pageInfo,
        nodes: z.array(
          z.object({
            state: z.string(),
            submittedAt: time.nullable(),
            authorCanPushToRepository: z.boolean(),
            author: actor.nullable(),
            commit: oid.nullable(),
          }),
        ),
      }),
      commits: z.object({
        pageInfo,
        totalCount: z.int(),
        nodes: z.array(
          z.object({
            commit: z.object({
              committedViaWeb: z.boolean(),
              parents: z.object({ totalCount: z.int() }),
              committer: login,
              authors: z.object({ totalCount: z.int(), nodes: z.array(login) }),
            }),
          }),
        ),
      }),
    }),
  }),
})
const REVIEWS = `query($owner: String!, $name: String!, $number: Int!, $reviews: String, $commits: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      headRefOid
      author { __typename login }
      latestOpinionatedReviews(first: 100, after: $reviews, writersOnly: true) {
        pageInfo { hasNextPage endCursor }
        nodes { state submittedAt authorCanPushToRepository author { __typename login } commit { oid } }
      }
      commits(first: 100, after: $commits) {
        pageInfo { hasNextPage endCursor }
        totalCount
        nodes { commit {
          committedViaWeb
          parents { totalCount }
          committer { user { login } }
          authors(first: 50) { totalCount nodes { user { login } } }
        } }
      }
    }
  }
}`

/** Reads all reviews, and at most 500 commits. */
export const readReviews = async (github: GitHub, number: number): Promise<PullReviews> => {
  const reviews: Review[] = []
  const committers = new Set<string>()
  let areKnown = true
  let read = 0
  let cursors: { readonly reviews: string | null; readonly commits: string | null } = { reviews: null, commits: null }
  for (let page = 1; ; page += 1) {
    const { repository }: z.output<typeof reviewsShape> = await github.query('read reviews', reviewsShape, REVIEWS, {
      number,
      ...cursors,
    })
    const { headRefOid: head, author, latestOpinionatedReviews: opinions, commits } = repository.pullRequest
    for (const { state, submittedAt, authorCanPushToRepository: canPush, author: by, commit } of opinions.nodes) {
      const who = by === null ? {} : { author: by }
      reviews.push({ state, ...who, canPush, commit: commit?.oid ?? '', at: submittedAt ?? 0 })
    }
    read += commits.nodes.length
    for (const { commit } of commits.nodes) {
      // GitHub itself made the merge commits of "Update branch".
      if (commit.committedViaWeb && commit.parents.totalCount > 1) continue
      areKnown &&= commit.authors.nodes.length === commit.authors.totalCount
      for (const by of [commit.committer, ...commit.authors.nodes]) if (by?.user) committers.add(by.user.login)
    }
    const hasMore = opinions.pageInfo.hasNextPage || commits.pageInfo.hasNextPage
    if (!hasMore || page === MOST_PAGES) {
      const isWhole = areKnown && !opinions.pageInfo.hasNextPage && read === commits.totalCount
      return { number, head, author: author?.login ?? '', reviews, committers: isWhole ? committers : undefined }
    }
    cursors = {
      reviews: opinions.pageInfo.endCursor ?? cursors.reviews,
      commits: commits.pageInfo.endCursor ?? cursors.commits,
    }
  }
}

const MOST_PAGES = 5

const queueShape = z.object({
  repository: z.object({
    mergeQueue: z
      .object({
        entries: z.object({
          nodes: z.array(
            z.object({
              headCommit: oid.nullable(),
              baseCommit: oid.nullable(),
              pullRequest: z.object({ number: z.int() }).nullable(),
            }),
          ),
        }),
      })
      .nullable(),
  }),
})
const QUEUE = `query($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $branch) { entries(first: 100) { nodes {
      headCommit { oid } baseCommit { oid } pullRequest { number }
    } } }
  }
}`

/** The pull requests in a merge group. Empty if GitHub no longer has the group. */
export const readQueued = async (
  github: GitHub,
  { branch, head, base }: { readonly branch: string; readonly head: string; readonly base: string },
): Promise<readonly number[]> => {
  const { repository } = await github.query('read the merge queue', queueShape, QUEUE, { branch })
  const entries = new Map((repository.mergeQueue?.entries.nodes ?? []).map((one) => [one.headCommit?.oid, one]))
  const numbers: number[] = []
  for (let commit: string | undefined = head; commit !== undefined && commit !== base; ) {
    const entry = entries.get(commit)
    if (entry?.pullRequest == null) return []
    entries.delete(commit)
    numbers.push(entry.pullRequest.number)
    commit = entry.baseCommit?.oid
  }
  return numbers
}
