/** Checks whether a recorded process is still running. A pid alone is not enough, because in a container it is often 1. */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

interface ProcessIdentity {
  readonly host: string
  readonly boot: string
  readonly pid: number
  /** When the process started, in clock ticks since boot. */
  readonly start: string
}

/** Returns `undefined` if the system does not expose it. Such a process counts as dead only after a timeout. */
export const ownIdentity = async (): Promise<ProcessIdentity | undefined> => {
  const [boot, start] = [await bootId(), await startOf(process.pid)]
  return boot === undefined || start === undefined ? undefined : { host: hostname(), boot, pid: process.pid, start }
}

/** Whether the process is certainly dead. This is never certain for a process on another machine. */
export const isGone = async ({ host, boot, pid, start }: ProcessIdentity): Promise<boolean> => {
  const now = await bootId()
  if (now === undefined || host !== hostname()) return false
  return boot !== now || (await startOf(pid)) !== start
}

const bootId = async (): Promise<string | undefined> => (await textOf('/proc/sys/kernel/random/boot_id'))?.trim()

/** Reads the start time, which follows the process name in parentheses. The name may contain spaces. */
const startOf = async (pid: number): Promise<string | undefined> =>
  (await textOf(`/proc/${pid}/stat`))?.split(')').at(-1)?.trim().split(' ')[19]

const textOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)
