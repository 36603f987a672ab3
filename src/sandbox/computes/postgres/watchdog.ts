/**
 * Stops all servers if the sandbox dies. A shell in a separate session keeps a list of the server processes. The input
 * of the shell ends when the sandbox dies, and the shell then stops the servers.
 */
import { spawn } from 'node:child_process'
import { withoutSecrets } from '../../../model/index.ts'

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
