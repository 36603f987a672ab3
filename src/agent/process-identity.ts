/** Whether the process that wrote something down still runs. Its id alone does not say: in a container it always is 1. */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

export interface ProcessIdentity {
  readonly host: string
  readonly boot: string
  readonly pid: number
  /** Ticks since the machine started. */
  readonly start: string
}

/** `undefined` where the system does not show it: then only time says that a process is gone. */
export const ownIdentity = async (): Promise<ProcessIdentity | undefined> => {
  const [boot, start] = [await bootId(), await startOf(process.pid)]
  return boot === undefined || start === undefined ? undefined : { host: hostname(), boot, pid: process.pid, start }
}

/** Known for certain: of another machine nothing is. */
export const isGone = async ({ host, boot, pid, start }: ProcessIdentity): Promise<boolean> => {
  const now = await bootId()
  if (now === undefined || host !== hostname()) return false
  return boot !== now || (await startOf(pid)) !== start
}

const bootId = async (): Promise<string | undefined> => (await textOf('/proc/sys/kernel/random/boot_id'))?.trim()

/** The name, in parentheses, may hold spaces. */
const startOf = async (pid: number): Promise<string | undefined> =>
  (await textOf(`/proc/${pid}/stat`))?.split(')').at(-1)?.trim().split(' ')[19]

const textOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)
