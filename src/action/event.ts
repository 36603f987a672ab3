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
  /** The branch that was pushed, or that the pull request or the merge group is merged into. */
  readonly branch?: string
  /** The commit that the branch pointed to before the push, if known. */
  readonly before?: string
  /** The base commit of a merge group, which may contain several pull requests. */
  readonly mergeGroupBase?: string
}

const sha = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/)
const side = z.object({ sha, ref: z.string().optional(), repo: z.object({ full_name: z.string() }).nullish() })
const payloadShape = z.object({
  pull_request: z.object({ number: z.int(), base: side, head: side, merged: z.boolean().nullish() }).optional(),
  merge_group: z.object({ base_sha: sha, base_ref: z.string().optional() }).optional(),
  before: sha.optional().catch(undefined),
})

/** Reads the event. A payload that cannot be read is treated as empty. */
export const readEvent = (env: Environment): WorkflowEvent => {
  const payload = payloadShape.safeParse(readJson(env.GITHUB_EVENT_PATH))
  const pull = payload.data?.pull_request
  const { before, merge_group: group } = payload.data ?? {}
  const pushed = /^refs\/heads\/(.+)$/.exec(group?.base_ref ?? env.GITHUB_REF ?? '')?.[1]
  const branch = pull === undefined ? pushed : pull.base.ref
  const event = {
    name: env.GITHUB_EVENT_NAME ?? '',
    repository: env.GITHUB_REPOSITORY ?? '',
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
