/** Addresses of files on GitHub. */
import { posix } from 'node:path'
import { encodePath } from '../base/index.ts'
import type { WorkflowEvent } from './event.ts'
import type { Environment } from './inputs.ts'

interface Run {
  readonly env: Environment
  readonly event: WorkflowEvent
  /** Of the working directory, from the root of the repository on; with `/` at its end. */
  readonly prefix: string
}

/** The line of a manifest at the commit of the run; `undefined` if there is no such page. */
export const linkTo = ({ env, event, prefix }: Run, file: string, line: number): string | undefined => {
  const server = env.GITHUB_SERVER_URL ?? ''
  if (server === '' || event.repository === '' || event.sha === '') return undefined
  // A path that leaves the repository would lead to another page of the server.
  const path = posix.normalize(`${prefix}${file}`)
  if (path.startsWith('../')) return undefined
  return `${server}/${event.repository}/blob/${event.sha}/${encodePath(path)}#L${line}`
}
