/** Reads the event that started the workflow. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { defined } from '../base/index.ts'
import type { Environment } from './inputs.ts'

export interface PullRequest {
  readonly number: number
  readonly baseSha: string
  readonly headSha: string
  /** Whether the head is in another repository than the base. */
  readonly isFork: boolean
  readonly isMerged: boolean
}

export interface WorkflowEvent {
  readonly name: string
  /** `owner/name`. */
  readonly repository: string
  /** The checked-out commit; for a pull request, its head. */
  readonly sha: string
  readonly pullRequest?: PullRequest
  /** The branch that was pushed. */
  readonly branch?: string
  /** The commits of a push, oldest first. `before` is the commit that the branch pointed to until then, if known. */
  readonly commits: readonly string[]
  readonly before?: string
  /** The base commit of a merge group, which may contain several pull requests. */
  readonly mergeGroupBase?: string
}

const sha = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/)
const side = z.object({ sha, repo: z.object({ full_name: z.string() }).nullish() })
const payloadShape = z.object({
  pull_request: z.object({ number: z.int(), base: side, head: side, merged: z.boolean().nullish() }).optional(),
  merge_group: z.object({ base_sha: sha }).optional(),
  before: sha.optional().catch(undefined),
  commits: z.array(z.object({ id: sha })).catch([]),
})

/** Reads the event. A payload that cannot be read is treated as empty. */
export const readEvent = (env: Environment): WorkflowEvent => {
  const payload = payloadShape.safeParse(readJson(env.GITHUB_EVENT_PATH))
  const pull = payload.data?.pull_request
  const { before, commits = [], merge_group: group } = payload.data ?? {}
  const branch = /^refs\/heads\/(.+)$/.exec(env.GITHUB_REF ?? '')?.[1]
  const event = {
    name: env.GITHUB_EVENT_NAME ?? '',
    repository: env.GITHUB_REPOSITORY ?? '',
    commits: commits.map(({ id }) => id),
    // A hash of zeros means that the push created the branch.
    ...(before === undefined || /^0+$/.test(before) ? {} : { before }),
    ...defined({ branch }),
  }
  if (pull === undefined) {
    return { ...event, sha: env.GITHUB_SHA ?? '', ...defined({ mergeGroupBase: group?.base_sha }) }
  }
  return {
    ...event,
    sha: pull.head.sha,
    pullRequest: {
      number: pull.number,
      baseSha: pull.base.sha,
      headSha: pull.head.sha,
      isFork: pull.head.repo?.full_name !== event.repository,
      isMerged: pull.merged === true,
    },
  }
}

const readJson = (path: string | undefined): unknown => {
  try {
    return JSON.parse(readFileSync(path ?? '', 'utf8'))
  } catch {
    return undefined
  }
}
