import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import {
  type Agent,
  type AgentKey,
  folderSource,
  gitSource,
  Notifier,
  notifyKey,
  openAgent,
  openDataFolder,
  parseListenAddress,
  type Source,
  sendTo,
  serveAgent,
} from '../../agent/index.ts'
import { defined, namesIn, plainText, readBoundedFile } from '../../base/index.ts'
import { DEFAULT_CONCURRENCY, EspalierError, EXIT, type ExitCode } from '../../model/index.ts'
import { allowed, pathsOf } from '../../workflow/index.ts'
import { exitCodeOfAll, tokenIn, writeAddress } from '../agent-data.ts'
import { readAgentKeys } from '../agent-keys.ts'
import type { AgentRunFlags } from '../commands/agent.ts'
import { connect } from '../connect.ts'
import { usageError } from '../flags.ts'
import { type Io, onStop } from '../io.ts'
import { print } from '../terminal.ts'

export const runAgent = async (flags: AgentRunFlags, io: Io): Promise<ExitCode> => {
  const settings = settingsOf(flags)
  if (flags.repo !== undefined) rejectPlainFolder(flags.repo, io)
  const log = (line: string): void => print(plainText(line), io.stdout)
  const notifier = await notifierOf(flags, io, log)
  const webhookSecret = await secretIn(flags.webhookSecretFile, io)
  const folder = io.locate(flags.data)
  const data = await openDataFolder(folder, { holder: randomUUID(), now: io.clock.date })
  const connection = await connectionOf(flags, io)
  try {
    const { apiKey, watch: _, clients: __, ...api } = connection.options
    const own: AgentKey = { name: 'default', read: async () => apiKey }
    const keys = flags.keys === undefined ? [own] : await readAgentKeys(flags.keys, io)
    if (flags.sandbox !== undefined) {
      log(`Sandbox  ${api.baseUrl}`)
      log(`Key  ${apiKey}`)
    }
    const agent = await openAgent({
      ...settings,
      source: await sourceOf(flags, folder, io),
      data,
      keys,
      api,
      clock: io.clock,
      random: Math.random,
      log,
      ...defined({ notifier }),
    })
    if (flags.once === true) return await once(agent, notifier, io)
    const server = await serveAgent(agent, {
      listen: settings.listen,
      token: await tokenIn(folder),
      ...defined({ listenPublic: settings.listenPublic, webhookSecret }),
      now: io.clock.date,
      log,
    })
    await writeAddress(folder, server.url)
    log(`Page  ${server.url}/`)
    if (server.publicUrl !== undefined) log(`Health and metrics  ${server.publicUrl}`)
    try {
      await untilStopped(agent.stop, io, () => agent.run())
    } finally {
      await notifier?.end()
      await server.close()
    }
    return EXIT.ok
  } finally {
    await connection.close()
    await data.release()
  }
}

const once = async (agent: Agent, notifier: Notifier | undefined, io: Io): Promise<ExitCode> => {
  await untilStopped(agent.stop, io, () => agent.once())
  await notifier?.end()
  const { projects, source } = agent.view()
  if (source.version === undefined && source.error !== undefined) throw new EspalierError('E_GIT', source.error)
  return exitCodeOfAll({ projects, source })
}

const untilStopped = async (stop: () => void, io: Io, run: () => Promise<void>): Promise<void> => {
  const release = onStop(io, stop)
  try {
    await run()
  } finally {
    release()
  }
}

/** Reads the settings from the flags. Mistakes are reported here, before anything is read. */
const settingsOf = (flags: AgentRunFlags) => {
  if (flags.interval < 60_000) throw usageError('--interval must be at least 60s.')
  const { onGit, onDrift, interval, gitInterval, listenPublic } = flags
  return {
    policy: { onGit, onDrift, allow: allowed(flags.allow ?? []) },
    maxRestarts: flags.maxRestarts,
    interval,
    gitInterval,
    operationTimeoutMs: flags.timeout,
    concurrency: DEFAULT_CONCURRENCY,
    listen: parseListenAddress(flags.listen, '--listen'),
    listenPublic: listenPublic === undefined ? undefined : parseListenAddress(listenPublic, '--listen-public'),
  } as const
}

/** Policies come from the operator's flags, so that a commit cannot change them. */
const sourceOf = async (flags: AgentRunFlags, folder: string, io: Io): Promise<Source> => {
  const { repo, ref, paths, policy = [] } = flags
  const settings = { policyPaths: policy.map((path) => io.locate(path)) }
  if (repo === undefined) return folderSource(await pathsOf(paths, io.cwd), io.cwd, settings)
  // A path is resolved here, because git would resolve it relative to the mirror.
  const from = isPath(repo) ? resolve(io.cwd, repo) : repo
  return gitSource({ ...settings, repo: from, ref, paths, folder: join(folder, 'repo') })
}

const isPath = (repo: string): boolean => !/^[\w+.-]+:\/\//.test(repo) && !/^[^/]+:/.test(repo)

/** Rejects a folder that is not a repository, because git's own error does not say how to follow a plain folder. */
const rejectPlainFolder = (repo: string, io: Io): void => {
  const names = isPath(repo) ? namesIn(resolve(io.cwd, repo)) : []
  // A bare repository has `HEAD` but no `.git`. If the folder is empty or missing, git's own error is clear enough.
  if (names.length === 0 || names.includes('.git') || names.includes('HEAD')) return
  throw usageError(
    `--repo ${repo} is not the top folder of a git repository.`,
    `To follow a folder that is not a repository, omit --repo: espalier agent run ${repo}`,
  )
}

const connectionOf = async (flags: AgentRunFlags, io: Io) => {
  if (flags.keys === undefined) return connect(flags, io)
  if (flags.sandbox !== undefined) throw usageError('--keys and --sandbox cannot be combined.')
  if (flags.apiKeyFile !== undefined) throw usageError('--keys and --api-key-file cannot be combined.')
  // This placeholder is never sent, because each project uses a key from the file.
  return connect(flags, { ...io, env: { ...io.env, ESPALIER_API_KEY: 'unused' } })
}

const notifierOf = async (
  { notify, notifySecretFile }: AgentRunFlags,
  io: Io,
  log: (line: string) => void,
): Promise<Notifier | undefined> => {
  if (notify === undefined) {
    if (notifySecretFile !== undefined) throw usageError('--notify-secret-file requires --notify.')
    return undefined
  }
  const secret = await secretIn(notifySecretFile, io)
  const key = secret === undefined ? undefined : notifyKey(secret)
  return new Notifier({ send: sendTo(notify), key, clock: io.clock, log })
}

const MAX_SECRET_BYTES = 64 * 1024

const secretIn = async (file: string | undefined, { locate }: Io): Promise<string | undefined> => {
  if (file === undefined) return undefined
  try {
    const secret = (await readBoundedFile(locate(file), MAX_SECRET_BYTES)).trim()
    if (secret !== '') return secret
  } catch (cause) {
    throw new EspalierError('E_USAGE', `The secret file ${file} cannot be read.`, { cause })
  }
  throw new EspalierError('E_USAGE', `The secret file ${file} is empty.`)
}
