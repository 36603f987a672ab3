import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { z } from 'zod'
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
import {
  DEFAULT_CONCURRENCY,
  defined,
  EspalierError,
  EXIT,
  type ExitCode,
  globProblem,
  namesIn,
  plainText,
  readBoundedFile,
  shellWord,
} from '../../base/index.ts'
import { type FileKind, readYaml } from '../../base/yaml/index.ts'
import { allowed, pathsOf } from '../../workflow/index.ts'
import { commandOf, type Description, STDIN, type ValuesOf } from '../command.ts'
import { DATA_FLAG, exitCodeOfAll, STATE_CODES, tokenIn, writeAddress } from '../setup/agent-data.ts'
import { connect } from '../setup/connect.ts'
import {
  CONNECTION_FLAGS,
  duration,
  number,
  PATHS,
  REVIEW_FLAGS,
  TIMEOUT_FLAG,
  text,
  toggle,
  usageError,
} from '../setup/flags.ts'
import { type Io, onStop } from '../setup/io.ts'
import { readKey, warnOfOthers } from '../setup/key.ts'
import { print } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: {
    paths: {
      ...PATHS.paths,
      describe: 'Manifests: files, directories or globs (default: espalier.yaml or espalier/)',
    },
  },
  flags: {
    repo: text('Manifests:', 'URL or path of the git repository that contains the manifests', {
      value: 'URL',
    }),
    ref: text('Manifests:', 'Git branch or tag to follow', {
      value: 'NAME',
      default: 'main',
    }),
    'git-interval': duration('Manifests:', 'How often to fetch the repository or read local manifests', {
      default: '30s',
    }),
    'on-git': text('Decisions:', 'What to do when a commit changes a manifest', {
      choices: ['apply', 'report'],
      default: 'apply',
    }),
    'on-drift': text('Decisions:', 'What to do when someone changes a live project', {
      choices: ['report', 'revert'],
      default: 'report',
    }),
    allow: text('Decisions:', 'Impacts to allow: disconnect, move, replace, delete; or none, to forbid restarts too', {
      value: 'LIST',
      array: true,
    }),
    'max-restarts': number('Decisions:', 'Maximum number of restarts in any 24 hours, over all projects'),
    // There is no `--override`, because an override is for a single run and states a reason for it.
    policy: { ...REVIEW_FLAGS.policy, group: 'Decisions:' },
    interval: duration('Agent:', 'How often to read each project; at least 60s', { default: '5m' }),
    once: toggle('Agent:', 'Process each project once, then exit with the exit code of `agent status`'),
    ...DATA_FLAG,
    timeout: { ...TIMEOUT_FLAG.timeout, group: 'Agent:', describe: 'How long to wait for each step to finish' },
    'stop-timeout': duration(
      'Agent:',
      'After SIGTERM, how long to keep trying to restore primaries that the agent removed',
      {
        default: '10m',
      },
    ),
    keys: text('Agent:', 'YAML file that lists several API keys, each with its projects', { value: 'FILE' }),
    listen: text('Serving:', 'Address of the web page and the API', {
      value: 'ADDRESS',
      default: '127.0.0.1:7790',
    }),
    'listen-public': text('Serving:', 'Address that serves only health checks, metrics and the git webhook', {
      value: 'ADDRESS',
    }),
    'webhook-secret-file': text('Serving:', 'File that contains the secret of the git webhook', { value: 'FILE' }),
    notify: text('Serving:', 'URL that receives state changes as CloudEvents', { value: 'URL' }),
    'notify-secret-file': text('Serving:', 'File with the Standard Webhooks secret that signs notifications', {
      value: 'FILE',
    }),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 agent run --repo https://github.com/acme/db', 'Follow a repository'],
    ['$0 agent run /etc/espalier', 'Follow a folder, such as a mounted ConfigMap'],
    ['$0 agent run --repo . --sandbox=seed.yaml', 'Try the command without an account'],
    ['$0 agent run --repo . --once', 'Process each project once, as in a cron job'],
  ],
  notes: `After SIGTERM or Ctrl-C, the agent completes running steps and restores primaries that it removed. A second signal stops it immediately.

${STATE_CODES}
  Without --once: 0 if the agent was stopped, 1 if it cannot start or continue, 3 if it left a branch without a primary.`,
} as const satisfies Description

type AgentRunFlags = ValuesOf<typeof DESCRIPTION>

export const runCommand = commandOf(DESCRIPTION, async (flags, io) => {
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
    const { apiKeyFile } = flags
    const read = apiKeyFile === undefined ? async () => apiKey : () => readKey(apiKeyFile, io)
    const own: AgentKey = { name: 'default', read }
    const [write, readOnly] = [await tokenIn(folder, 'token'), await tokenIn(folder, 'read-token')]
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
      secrets: [write, readOnly],
      log,
      ...defined({ notifier }),
    })
    if (flags.once === true) return await once(agent, notifier, io)
    const server = await serveAgent(agent, {
      listen: settings.listen,
      tokens: { write, read: readOnly },
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
    return agent.hasGap ? EXIT.partial : EXIT.ok
  } finally {
    await connection.close()
    await data.release()
  }
})

const once = async (agent: Agent, notifier: Notifier | undefined, io: Io): Promise<ExitCode> => {
  await untilStopped(agent.stop, io, () => agent.once())
  await notifier?.end()
  const { projects, source } = agent.view()
  const code = exitCodeOfAll({ projects, source })
  if (code === EXIT.error && source.error !== undefined) throw new EspalierError('E_GIT', source.error)
  return code
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
  if (flags.paths.includes(STDIN)) throw usageError('The agent follows files, so it cannot read - (stdin).')
  if (flags.interval < 60_000) throw usageError('--interval must be at least 60s.')
  const { onGit, onDrift, interval, gitInterval, listenPublic } = flags
  return {
    policy: { onGit, onDrift, allow: allowed(flags.allow ?? []) },
    maxRestarts: flags.maxRestarts,
    interval,
    gitInterval,
    operationTimeoutMs: flags.timeout,
    stopTimeoutMs: flags.stopTimeout,
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
    `To follow a folder that is not a repository, remove the word \`--repo\` from the command, and keep ${shellWord(repo)}.`,
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

// Reads the file given with `--keys`. It lists keys, each with its projects and the files that may declare them.

const glob = z.string().refine((text) => globProblem(text) === undefined, { error: 'is not a valid glob' })
const KEYS = z
  .array(
    z.strictObject({
      name: z.string().min(1),
      keyFile: z.string().min(1),
      projects: z.array(glob).optional(),
      paths: z.array(glob).optional(),
      account: z.string().optional(),
    }),
  )
  .min(1)

const KIND: FileKind = {
  code: 'E_KEY',
  title: 'The key list',
  hint: 'Write a list of { name, keyFile, projects: [GLOB], paths: [GLOB], account }.',
}

/** @throws {EspalierError} `E_KEY`: one line for each mistake, with file, line and column. */
export const readAgentKeys = async (path: string, io: Io): Promise<readonly AgentKey[]> => {
  const keys = await readYaml(io.locate(path), KEYS, KIND, path)
  for (const { keyFile } of keys) await warnOfOthers(keyFile, io)
  return keys.map(({ keyFile, ...key }) => ({ ...key, read: () => readKey(keyFile, io) }))
}
