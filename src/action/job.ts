/** Shared by the Action's commands. */
import { posix, relative, resolve, sep } from 'node:path'
import type { ReadApi } from '../api/index.ts'
import { defined, encodePath, type OnSignal } from '../base/index.ts'
import { type Clock, EspalierError, shardText } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { type Connection, connect as connectTo, openReadClient, withClient } from '../workflow/index.ts'
import { type CommentKind, markerOf } from './comment.ts'
import type { WorkflowEvent } from './event.ts'
import type { FailureReason } from './failure.ts'
import type { Environment, Inputs } from './inputs.ts'
import type { Runner } from './runner.ts'

export interface Job {
  readonly env: Environment
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
  readonly inputs: Inputs
  readonly event: WorkflowEvent
  readonly runner: Runner
  /** Whether the API key may have been used. */
  readonly key: { isUsed: boolean }
  /** The working directory, absolute. Inputs are relative to it. */
  readonly cwd: string
  /** The working directory relative to the repository's root, with a trailing `/`; empty for the root. */
  readonly prefix: string
}

/** The result of a command, and the output `failure-reason`: empty on success. */
export type Ending = FailureReason | ''

export const prefixOf = (root: string, cwd: string): string => {
  const path = relative(root, cwd).split(sep).join('/')
  return path === '' ? '' : `${path}/`
}

/** Content common to all comments and summaries. */
export const frameOf = (job: Job, kind: CommentKind) => {
  const { event } = job
  return {
    ...defined({ name: nameOf(job) || undefined }),
    marker: markerOf(kind, job),
    commit: event.sha,
    whole: 'the job summary, and as JSON in the file of the output `json-plan-path`',
    linkTo: (file: string, line: number): string | undefined => linkTo(job, file, line),
  }
}

const LONGEST_NAME = 80

/** A name for the heading, if there are several comments; empty for the default paths. */
const nameOf = ({ inputs: { label, paths, shard, project }, prefix }: Job): string => {
  const parts = [
    ...(label !== '' ? [label] : [prefix, ...paths]),
    ...project,
    ...(shard === undefined ? [] : [shardText(shard)]),
  ]
  const name = parts.filter((part) => part !== '').join(' ')
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

/** The URL of a manifest line at the run's commit; `undefined` if it cannot be linked. */
export const linkTo = (
  { env, event, prefix }: Pick<Job, 'env' | 'event' | 'prefix'>,
  file: string,
  line: number,
): string | undefined => {
  const server = env.GITHUB_SERVER_URL ?? ''
  if (server === '' || event.repository === '' || event.sha === '') return undefined
  // A path outside the repository would link to another page.
  const path = posix.normalize(`${prefix}${file}`)
  if (path.startsWith('../')) return undefined
  return `${server}/${event.repository}/blob/${event.sha}/${encodePath(path)}#L${line}`
}

/** Whether there is a live project to read: there is a key or a sandbox. */
export const hasLive = ({ inputs }: Job): boolean => inputs.apiKey !== '' || inputs.sandbox !== ''

/** @throws {EspalierError} `E_KEY` if there is neither a key nor a sandbox; other codes if the sandbox cannot start. */
export const connect = async ({ inputs, clock, cwd, key }: Job): Promise<Connection> => {
  const { sandbox, apiKey, baseUrl, shard } = inputs
  const options = { userAgent: `espalier-action/${VERSION}`, clock, ...defined({ clients: shard?.count }) }
  if (sandbox !== '') return connectTo({ sandbox: { seed: resolve(cwd, sandbox), background: false } }, options)
  if (apiKey !== '') {
    key.isUsed = true
    return connectTo({ apiKey, baseUrl }, options)
  }
  throw new EspalierError('E_KEY', 'There is no API key.', {
    hint: 'Set the input api-key from a secret of the repository; to try it without an account, set the input sandbox.',
  })
}

/** Runs `use` with a client that cannot write, and then closes it. */
export const withReadClient = <T>(job: Job, use: (api: ReadApi) => Promise<T>): Promise<T> =>
  withClient(connect(job).then(openReadClient), use)
