/** Links to files on GitHub. */
import { posix } from 'node:path'
import { encodePath } from '../base/index.ts'
import type { WorkflowEvent } from './event.ts'
import type { Environment } from './inputs.ts'

interface Run {
  readonly env: Environment
  readonly event: WorkflowEvent
  /** The working directory relative to the repository's root, with a `/` at its end. */
  readonly prefix: string
}

/** The URL of a manifest line at the run's commit; `undefined` if there is none. */
export const linkTo = ({ env, event, prefix }: Run, file: string, line: number): string | undefined => {
  const server = env.GITHUB_SERVER_URL ?? ''
  if (server === '' || event.repository === '' || event.sha === '') return undefined
  // A path outside the repository would link to another page.
  const path = posix.normalize(`${prefix}${file}`)
  if (path.startsWith('../')) return undefined
  return `${server}/${event.repository}/blob/${event.sha}/${encodePath(path)}#L${line}`
}
