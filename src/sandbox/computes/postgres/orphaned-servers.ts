/** Stops the servers that a killed sandbox left running. They would block their data folders. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { namesIn } from '../../../base/index.ts'
import { withoutSecrets } from '../../../model/index.ts'

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
