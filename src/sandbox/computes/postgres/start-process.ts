/** Starts the processes of Postgres: under which user they run, and how they are stopped if the sandbox dies. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EspalierError, namesIn, withoutSecrets } from '../../../base/index.ts'

interface ProcessOptions {
  readonly runAs: RunAs
  readonly watchdog: Watchdog
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Called with each line of stderr. Returns whether the program is ready. */
  readonly onLine: (line: string) => boolean
  /** Explains why the program ended before it was ready. */
  readonly explain: () => string
}

/** Starts a server under the watchdog, and waits until it is ready. @throws {Error} if it ends before that. */
export const startProcess = async ({ runAs, watchdog, env, onLine, explain, ...start }: ProcessOptions) => {
  const [program, args] = runAs.command(start.program, start.args)
  const child = spawn(program, args, {
    ...runAs.ids,
    cwd: '/',
    env,
    // In a separate process group, the program does not receive Ctrl-C. Only the sandbox does, and it stops its
    // computes in the right order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit').catch((error: unknown) => error)
  const { pid } = child
  if (pid === undefined) throw await ended
  watchdog.watch(pid)
  void ended.then(() => watchdog.release(pid))
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (onLine(line)) resolve()
    })
    void ended.then(() => reject(new Error(explain())))
  })
  return {
    /** Resolves when the process has ended for any reason. */
    ended,
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
  }
}

// Postgres refuses to run as root, so a sandbox that was started as root runs Postgres as another user.

export interface RunAs {
  /** The program and arguments to start. */
  readonly command: (program: string, args: readonly string[]) => readonly [string, readonly string[]]
  readonly ids: { readonly uid?: number; readonly gid?: number }
  /** Changes the owner of a file or folder to the user that runs Postgres. */
  readonly own: (path: string) => void
}

/** The id of the user `nobody` on Linux and most other systems. Postgres does not start under a user id that has no user name. */
const NOBODY = 65_534
const ALL_MAY_ENTER = 0o001

const asCurrentUser: RunAs = { command: (program, args) => [program, args], ids: {}, own: () => undefined }

/**
 * @param own the data folder.
 * @param programs the folders that the programs of Postgres read.
 * @throws {EspalierError} `E_POSTGRES` if this process runs as root and no other user can access the folders.
 */
export const runAs = async (own: string, programs: readonly string[]): Promise<RunAs> => {
  if (process.getuid?.() !== 0) return asCurrentUser
  const folders = [dirname(resolve(own)), ...programs]
  if (folders.every(isOpenToAll)) {
    return {
      ...asCurrentUser,
      ids: { uid: NOBODY, gid: NOBODY },
      own: (path) => chownSync(path, NOBODY, NOBODY),
    }
  }
  // In a user namespace, Postgres has another user id, but can still access folders that only root can enter.
  const mapped = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  try {
    await promisify(execFile)('unshare', [...mapped, 'true'], { env: withoutSecrets(process.env) })
  } catch (cause) {
    const closed = folders.find((folder) => !isOpenToAll(folder))
    throw new EspalierError(
      'E_POSTGRES',
      'Postgres refuses to run as root, and no other user can access its folders.',
      {
        hint: `Run the sandbox as another user, or give all users access to ${closed} and its parents (chmod o+x).`,
        cause,
      },
    )
  }
  return { ...asCurrentUser, command: (program, args) => ['unshare', [...mapped, program, ...args]] }
}

/** Whether all users can enter the folder and its parents. */
const isOpenToAll = (folder: string): boolean => {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & ALL_MAY_ENTER) === 0) return false
    if (path === dirname(path)) return true
  }
}

// Stops all servers if the sandbox dies. A shell in a separate session keeps a list of the server processes. The input
// of the shell ends when the sandbox dies, and the shell then stops the servers.

export interface Watchdog {
  watch(pid: number): void
  /** Call when the process has ended. */
  release(pid: number): void
  /** Ends the watchdog itself. */
  close(): Promise<void>
}

// SIGINT makes Postgres shut down fast. The folders are removed after the processes have had time to end.
const SCRIPT = `
pids=' '
while read -r word pid; do
  case $word in
    watch) pids="$pids$pid " ;;
    release) case $pids in *" $pid "*) pids="\${pids%% $pid *} \${pids#* $pid }" ;; esac ;;
    done) exit 0 ;;
  esac
done
for pid in $pids; do kill -INT "$pid" 2>/dev/null; done
for pid in $pids; do
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -QUIT "$pid" 2>/dev/null
done
for folder in "$@"; do rm -rf "$folder"; done
`

/** @param folders temporary folders to remove if the sandbox dies. */
export const startWatchdog = (folders: readonly string[]): Watchdog => {
  const shell = spawn('sh', ['-c', SCRIPT, 'espalier-watchdog', ...folders], {
    // The shell runs in a separate session, because a signal to the sandbox's process group must not end it first.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: withoutSecrets(process.env),
  })
  shell.unref()
  shell.stdin.on('error', () => undefined)
  const say = (line: string): void => void shell.stdin.write(`${line}\n`)
  return {
    watch: (pid) => say(`watch ${pid}`),
    release: (pid) => say(`release ${pid}`),
    close: async () => {
      const ended = new Promise((resolve) => shell.once('exit', resolve))
      shell.ref()
      say('done')
      shell.stdin.end()
      await ended
    },
  }
}

// Stops the servers that a killed sandbox left running. They would block their data folders.

const CHECK_EVERY_MS = 20
const CHECKS = 250

/** Stops all servers whose data folders are in one of `parents`, and waits until they have ended. */
export const stopOrphanedServers = async (parents: readonly string[]): Promise<void> => {
  const folders = parents.flatMap((parent) => namesIn(parent).map((name) => join(parent, name)))
  await Promise.all(folders.map(endOn))
}

const endOn = async (folder: string): Promise<void> => {
  const lock = join(folder, 'postmaster.pid')
  if (!existsSync(lock)) return
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0])
  // The process id may belong to another program by now.
  if (pid > 0 && commandOf(pid).includes(folder)) {
    kill(pid, 'SIGINT')
    for (let check = 0; check < CHECKS && commandOf(pid).includes(folder); check += 1) await pause(CHECK_EVERY_MS)
    kill(pid, 'SIGQUIT')
  }
  rmSync(lock, { force: true })
}

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

const commandOf = (pid: number): string => {
  try {
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: withoutSecrets(process.env),
    })
  } catch {
    return ''
  }
}
