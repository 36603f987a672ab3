/** What the Action's commands share: the job, its names and links, and the connection to the service. */

import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import type { ReadApi } from '../api/index.ts'
import { type Clock, defined, EspalierError, encodePath, type OnSignal, PRIVATE, replaceFile } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
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
  /** The absolute path of the working directory. Paths in inputs are relative to it. */
  readonly cwd: string
  /** The working directory relative to the repository's root, with a trailing `/`. Empty if it is the root. */
  readonly prefix: string
}

/** The result of a command, which is also the value of the output `failure-reason`. Empty if the command succeeded. */
export type Ending = FailureReason | ''

export const prefixOf = (root: string, cwd: string): string => {
  const path = relative(root, cwd).split(sep).join('/')
  return path === '' ? '' : `${path}/`
}

/** The content that all comments and summaries have in common. */
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

/** The name in the heading, which distinguishes several comments from each other. Empty for the default paths. */
const nameOf = ({ inputs: { label, paths, project }, prefix }: Job): string => {
  const parts = [...(label !== '' ? [label] : [prefix, ...paths]), ...project]
  const name = parts.filter((part) => part !== '').join(' ')
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

/** The URL of a line in a manifest at the run's commit, or `undefined` if no link is possible. */
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

/** Whether a live project can be read, because there is an API key or a sandbox. */
export const hasLive = ({ inputs }: Job): boolean => inputs.apiKey !== '' || inputs.sandbox !== ''

/** @throws {EspalierError} `E_KEY` without a key and a sandbox; another code if the sandbox cannot be started. */
export const connect = async ({ inputs, clock, cwd, key }: Job): Promise<Connection> => {
  const { sandbox, apiKey, baseUrl } = inputs
  const options = { userAgent: `espalier-action/${VERSION}`, clock }
  if (sandbox !== '') return connectTo({ sandbox: { seed: resolve(cwd, sandbox), background: false } }, options)
  if (apiKey !== '') {
    key.isUsed = true
    return connectTo({ apiKey, baseUrl }, options)
  }
  throw new EspalierError('E_KEY', 'There is no API key.', {
    hint: 'Set the input api-key from a secret of the repository; to try it without an account, set the input sandbox.',
  })
}

/** Calls `use` with a client that cannot write, and then closes the client. */
export const withReadClient = <T>(job: Job, use: (api: ReadApi) => Promise<T>): Promise<T> =>
  withClient(connect(job).then(openReadClient), use)

// Chooses the paths of the files that a step writes.

/**
 * Returns the paths of the plan as JSON and of the saved plan. The input `plan-file` overrides the latter. The names
 * contain the label, so that artifacts of several jobs can be downloaded into one folder.
 */
export const stepFiles = ({ env, inputs: { label } }: Job): { readonly plan: string; readonly view: string } => {
  const root = env.RUNNER_TEMP || tmpdir()
  mkdirSync(root, { recursive: true })
  const folder = mkdtempSync(join(root, 'espalier-'))
  const name = label || 'espalier'
  return { plan: join(folder, `${name}.plan.json`), view: join(folder, `${name}.json`) }
}

export const writeFile = async (path: string, text: string): Promise<void> => {
  mkdirSync(dirname(path), { recursive: true })
  await replaceFile(path, text, 'The plan', PRIVATE)
}
