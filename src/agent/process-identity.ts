/** Whether a recorded process is still running. A pid alone is not enough: in a container it is always 1. */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

interface ProcessIdentity {
  readonly host: string
  readonly boot: string
  readonly pid: number
  /** Clock ticks since boot. */
  readonly start: string
}

/** `undefined` if the system does not expose it; a process then counts as dead only after a timeout. */
export const ownIdentity = async (): Promise<ProcessIdentity | undefined> => {
  const [boot, start] = [await bootId(), await startOf(process.pid)]
  return boot === undefined || start === undefined ? undefined : { host: hostname(), boot, pid: process.pid, start }
}

/** True only if certain; a process on another machine is never certain to be dead. */
export const isGone = async ({ host, boot, pid, start }: ProcessIdentity): Promise<boolean> => {
  const now = await bootId()
  if (now === undefined || host !== hostname()) return false
  return boot !== now || (await startOf(pid)) !== start
}

const bootId = async (): Promise<string | undefined> => (await textOf('/proc/sys/kernel/random/boot_id'))?.trim()

/** The process name, in parentheses, may contain spaces. */
const startOf = async (pid: number): Promise<string | undefined> =>
  (await textOf(`/proc/${pid}/stat`))?.split(')').at(-1)?.trim().split(' ')[19]

const textOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)
