/** Reads and writes the agent's token and address in its data folder, and chooses the exit code for its state. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Secret } from '../../agent/index.ts'
import { EspalierError, EXIT, type ExitCode, PRIVATE, readIfPresent, replaceFile } from '../../base/index.ts'
import { type AgentView, agentExitCode } from '../../model/index.ts'
import { text } from './flags.ts'

export const DATA_FLAG = {
  data: text('Agent:', 'Data folder; each agent needs its own', {
    value: 'DIR',
    default: '.espalier/agent',
  }),
} as const

export const STATE_CODES = `Exit codes:
  0   every project is Synced
  1   an error, such as wrong usage, an agent that cannot be reached, or manifests that were never read
  2   a project is OutOfSync, Progressing or Unknown
  3   a project is Blocked, Failing, Invalid or Suspended, the git ref is missing, or a manifest error affects no known project
  5   a project is Scheduled, and the others are Synced`

/** The token in this file of the data folder. If there is none yet, a new one is written. */
export const tokenIn = async (folder: string, name: 'token' | 'read-token'): Promise<Secret> => {
  const file = join(folder, name)
  const read = (): string => readIfPresent(file)?.trim() ?? ''
  if (read() === '') await replaceFile(file, `${randomBytes(24).toString('base64url')}\n`, 'The token', PRIVATE)
  return new Secret(`The token in ${file}`, read(), async () => read())
}

export const writeAddress = (folder: string, url: string): Promise<void> =>
  replaceFile(join(folder, 'address'), `${url}\n`, 'The address of the agent', PRIVATE)

/** @throws {EspalierError} `E_AGENT_UNREACHABLE` if no agent has ever used this folder. */
export const agentIn = async (folder: string): Promise<{ readonly url: string; readonly token: string }> => {
  const [url, token] = ['address', 'token'].map((name) => readIfPresent(join(folder, name))?.trim())
  if (url !== undefined && token !== undefined) return { url, token }
  throw new EspalierError('E_AGENT_UNREACHABLE', `No agent has run with the data folder ${folder}.`, {
    hint: 'Name the folder of the agent with --data, or start an agent with `espalier agent run`.',
  })
}

/** The exit code for the worst state of all projects. Manifests that cannot be used count as an invalid project. */
export const exitCodeOfAll = ({ projects, source }: Pick<AgentView, 'projects' | 'source'>): ExitCode => {
  if (source.errorState === 'Invalid') return EXIT.partial
  if (projects.length === 0 && source.error !== undefined)
    return source.version === undefined ? EXIT.error : EXIT.partial
  const codes = new Set<ExitCode>(projects.map(({ state }) => agentExitCode(state)))
  return ([EXIT.partial, EXIT.changes, EXIT.scheduled] as const).find((code) => codes.has(code)) ?? EXIT.ok
}
