/**
 * The only place that starts git. Whatever the repository and its configuration contain, git runs no program except its
 * own, `ssh` for remotes over ssh and, in our own mirror, the user's credential helper.
 */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { defined } from './collections.ts'
import { EspalierError } from './errors.ts'
import { didYouMean } from './words.ts'

/** Enough output to list any real tree. Larger output is assumed to be malicious. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const LOCAL_TIMEOUT_MS = 120_000
const REMOTE_TIMEOUT_MS = 600_000

/**
 * Environment variables that git inherits: enough to find programs, the user's configuration, proxies and certificates.
 * Excludes keys, and variables that name another repository (`GIT_DIR`) or another program (`GIT_EXTERNAL_DIFF`).
 */
const INHERITED = new RegExp(
  `^(${[
    'PATH|PATHEXT|HOME|HOMEDRIVE|HOMEPATH|USERPROFILE|USER|USERNAME|LOGNAME|XDG_CONFIG_HOME|XDG_DATA_HOME',
    'TMPDIR|TMP|TEMP|SYSTEMROOT|WINDIR|COMSPEC|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(\\(X86\\))?',
    'LD_LIBRARY_PATH|NIX_SSL_CERT_FILE|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|SSH_AUTH_SOCK',
    '(HTTP|HTTPS|ALL|NO)_PROXY',
    'GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\\d+|VALUE_\\d+)|GIT_EXEC_PATH|GIT_SSL_CAINFO|GIT_SSH_COMMAND',
  ].join('|')})$`,
  'i',
)

/** Passed on the command line, so that they override all configuration files. */
const OVERRIDES = [
  // A folder in the work tree may look like a repository and have its own configuration.
  'safe.bareRepository=explicit',
  'core.fsmonitor=false',
  `core.hooksPath=${devNull}`,
  'core.askPass=',
  'core.alternateRefsCommand=:',
  'maintenance.auto=false',
  'gc.auto=0',
]
/** For untrusted repositories, because their configuration could name a program as the credential helper. */
const NO_HELPER = 'credential.helper='

const environmentOf = (env: NodeJS.ProcessEnv, protocols: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED.test(name))),
  LC_ALL: 'C',
  // Do not fetch missing objects of a partial clone. git < 2.45 ignores this variable, but cannot fetch either, since
  // no protocol is allowed.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: protocols,
  GIT_PROTOCOL_FROM_USER: '0',
  // Overrides `core.sshCommand`, which a repository can set.
  GIT_SSH_COMMAND: env.GIT_SSH_COMMAND ?? 'ssh -o BatchMode=yes',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
})

interface GitOptions {
  /** Input for git's stdin. */
  readonly input?: string
  /** Whether git may access remotes. Default: no. */
  readonly isRemote?: boolean
  /** The repository is our own, so any credential helper is the user's and may run. */
  readonly isOwn?: boolean
  readonly signal?: AbortSignal | undefined
}

interface GitResult {
  /** Exit code; `undefined` if git did not exit normally. */
  readonly code: number | undefined
  readonly stdout: Buffer
  /** The line of stderr that explains the failure. */
  readonly why: string
}

const start = async (cwd: string, args: readonly string[], options: GitOptions): Promise<GitResult> => {
  const { input, isRemote = false, isOwn = false, signal } = options
  rejectBareRepository(cwd)
  const overrides = [...OVERRIDES, ...(isOwn ? [] : [NO_HELPER])].flatMap((one) => ['-c', one])
  // Loaded only here, because it is slow to load and most commands do not run git.
  const { execFile } = await import('node:child_process')
  const running = promisify(execFile)('git', ['--no-pager', ...overrides, ...args], {
    cwd,
    encoding: 'buffer',
    env: environmentOf(process.env, isRemote ? 'https:http:ssh:file' : 'none'),
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: isRemote ? REMOTE_TIMEOUT_MS : LOCAL_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    windowsHide: true,
    ...defined({ signal }),
  })
  // git may exit before it has read all input.
  running.child.stdin?.on('error', () => undefined).end(input)
  try {
    return { code: 0, stdout: (await running).stdout, why: '' }
  } catch (cause) {
    const { code, killed, stderr } = cause as { code?: unknown; killed?: boolean; stderr?: Buffer }
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
      throw new EspalierError('E_GIT', `git ${args[0]} prints more than 64 MiB.`, {
        hint: 'Keep manifests in a separate folder, and name it as the working directory.',
        cause,
      })
    }
    if (signal?.aborted === true) throw signal.reason
    if (killed === true) {
      throw new EspalierError('E_GIT', `git ${args[0]} did not finish in time.`, { hint: 'Run it again later.', cause })
    }
    if (typeof code === 'string') {
      const why = statOf(cwd)?.isDirectory() === true ? '' : `: there is no folder ${cwd}`
      throw new EspalierError('E_GIT', `git cannot be started${why}.`, {
        hint: why === '' ? 'Install git, which is required to compare with a commit.' : 'Check the name of the folder.',
        cause,
      })
    }
    const output = stderr?.toString().trim() ?? ''
    const known = KNOWN_ERRORS.find(([pattern]) => pattern.test(output))
    if (known !== undefined) throw new EspalierError('E_GIT', known[1](cwd), { hint: known[2], cause })
    const lines = output.split('\n')
    const why = lines.find((line) => line.startsWith('fatal: ')) ?? lines.at(-1) ?? ''
    return { code: typeof code === 'number' ? code : undefined, stdout: Buffer.of(), why }
  }
}

/** Errors from git that need a hint. Each entry has a pattern for git's output, our message, and our hint. */
const KNOWN_ERRORS: readonly (readonly [RegExp, (cwd: string) => string, string])[] = [
  [
    /not a git repository/,
    () => 'This folder is not in a git repository, so there is nothing to compare with.',
    'Run the command in the repository of the manifests.',
  ],
  [
    /dubious ownership/,
    (cwd) => `git does not trust the repository of ${cwd}: it belongs to another user.`,
    'If you trust it: git config --global --add safe.directory FOLDER',
  ],
]

/**
 * Like `safe.bareRepository=explicit`, for git before 2.38. A pull request can commit a folder that is a complete bare
 * repository, and git would run programs from its configuration.
 */
const rejectBareRepository = (cwd: string): void => {
  // Resolve symlinks, as git does.
  for (let folder = realPathOf(cwd), above = ''; folder !== above; above = folder, folder = dirname(folder)) {
    if (isFile(join(folder, '.git')) || isRepository(join(folder, '.git'))) return
    if (!isRepository(folder)) continue
    throw new EspalierError('E_GIT', `${folder} is itself a bare git repository, which is not used.`, {
      hint: 'Run this in a clone. If the folder came with a commit, find out why: it could make git run programs.',
    })
  }
}

const realPathOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

const isFile = (path: string): boolean => statOf(path)?.isFile() === true

/**
 * Links count even if their target does not exist: git accepts `HEAD -> refs/heads/main` as a HEAD. A folder with
 * `commondir` shares everything but HEAD, like the folder that git keeps for a worktree.
 */
const isRepository = (folder: string): boolean => {
  const has = (name: string): boolean => statOf(join(folder, name), lstatSync) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

/** `undefined` if there is no such entry, if links form a loop, or if access is denied. */
const statOf = (path: string, stat: (path: string) => Stats = statSync): Stats | undefined => {
  try {
    return stat(path)
  } catch {
    return undefined
  }
}

const REMOTE_HINT = 'Check that the remote can be reached, and that it has the commit or branch.'
const LOCAL_HINT =
  'If commits are missing, run git fetch --unshallow (actions/checkout: fetch-depth: 0). If files are missing, run git fetch --refetch --no-filter origin (actions/checkout: without filter and sparse-checkout).'

/** @throws {EspalierError} `E_GIT` if git is missing, fails, times out, or prints more than 64 MiB. */
export const git = async (cwd: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> => {
  const { code, stdout, why } = await start(cwd, args, options)
  if (code === 0) return stdout
  throw new EspalierError('E_GIT', `git ${args[0]} failed: ${why === '' ? `exit code ${code ?? 'unknown'}` : why}`, {
    hint: options.isRemote === true ? REMOTE_HINT : LOCAL_HINT,
  })
}

/** The full id of the commit that `ref` names. @throws {EspalierError} `E_GIT` if there is none. */
export const commitOf = async (cwd: string, ref: string): Promise<string> => {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]
  const { code, stdout } = await start(cwd, args, {})
  if (code === 0) return stdout.toString().trim()
  // All refs: HEAD may be a branch without commits while other branches have some.
  if ((await git(cwd, ['rev-list', '--all', '-n', '1'])).length === 0) {
    throw new EspalierError('E_GIT', 'This repository has no commit yet, so there is nothing to compare with.', {
      hint: 'Commit the manifests first.',
    })
  }
  const names = (await git(cwd, ['for-each-ref', '--format=%(refname:short)'])).toString().trim().split('\n')
  throw new EspalierError('E_GIT', `There is no commit ${ref} here.`, {
    hint:
      didYouMean(ref, names) ?? 'If it exists at the remote, run: git fetch origin (actions/checkout: fetch-depth: 0)',
  })
}

/** The commit's parents, in order. */
export const parentsOf = async (cwd: string, ref: string): Promise<readonly string[]> => {
  const line = (await git(cwd, ['rev-list', '--parents', '-n', '1', '--end-of-options', ref])).toString().trim()
  return line.split(' ').slice(1)
}

/** The commit that `ref` names at origin; `undefined` if there is none. */
export const remoteCommit = async (cwd: string, ref: string): Promise<string | undefined> => {
  await rejectCommands(cwd)
  const args = ['ls-remote', '--upload-pack=git-upload-pack', '--end-of-options', 'origin', ref]
  const [id = ''] = (await git(cwd, args, { isRemote: true })).toString().split('\t')
  return id === '' ? undefined : id
}

/**
 * Fetches a commit that may be missing, without making a full clone shallow.
 *
 * @param depth how many commits of its history to fetch if the clone is shallow.
 * @throws {EspalierError} `E_GIT` if origin has no such commit or cannot be reached.
 */
export const fetchCommit = async (cwd: string, sha: string, depth: number): Promise<void> => {
  await rejectCommands(cwd)
  const isShallow = (await git(cwd, ['rev-parse', '--is-shallow-repository'])).toString().trim() === 'true'
  const limit = isShallow ? [`--depth=${depth}`] : []
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
  const args = ['fetch', ...quiet, ...limit, '--upload-pack=git-upload-pack', '--end-of-options', 'origin', sha]
  await git(cwd, args, { isRemote: true })
}

/** Settings of individual remotes that name a program. To override them, the names of all remotes must be known. */
const REMOTE_COMMAND = /^remote\..*\.(uploadpack|receivepack|vcs)$/s

const rejectCommands = async (cwd: string): Promise<void> => {
  const names = (await git(cwd, ['config', '--list', '--name-only', '-z'])).toString().split('\0')
  const found = names.find((name) => REMOTE_COMMAND.test(name))
  if (found === undefined) return
  throw new EspalierError('E_GIT', `The git configuration names a program to run: ${found}. Nothing is fetched.`, {
    hint: 'Remove it, or fetch everything beforehand (actions/checkout: fetch-depth: 0).',
  })
}
