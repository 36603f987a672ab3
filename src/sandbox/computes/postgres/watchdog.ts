/**
 * Stops all servers if the sandbox dies. A shell in a separate session keeps a list of the server processes. The input
 * of the shell ends when the sandbox dies, and the shell then stops the servers.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { namesIn, withoutSecrets } from '../../../base/index.ts'

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
