/** Makes sure that only one agent uses a data folder. An agent that was killed does not block the next one. */
import { randomUUID } from 'node:crypto'
import { link, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { EspalierError, PRIVATE, readIfExists, readIfPresent, replaceFile } from '../base/index.ts'

/** A pid alone is not enough, because in a container it is often 1. `start` is in clock ticks since boot. */
const IDENTITY = z.object({ host: z.string(), boot: z.string(), pid: z.number(), start: z.string() })
type Identity = z.infer<typeof IDENTITY>

const LEASE = z.object({ holder: z.string(), renewedAt: z.number(), process: IDENTITY.optional() })
type Held = z.infer<typeof LEASE>
const LEASE_MS = 45_000
export const RENEW_MS = 10_000

export interface Lease {
  /**
   * Renews the lease on the folder. Called periodically and before each request that changes something, so that an
   * agent notices when it has lost its lease.
   *
   * @throws {EspalierError} `E_AGENT_DATA` if another agent has taken over, even if that one has ended since: what this
   *   agent knows of the folder is out of date.
   */
  renew(): Promise<void>
  /** Called before each write to the folder. @throws {EspalierError} `E_AGENT_DATA` as {@link Lease.renew}. */
  check(): Promise<void>
  release(): Promise<void>
}

/**
 * Acquires the folder, or takes it over from an agent that is dead or has not renewed its lease for 45 s.
 *
 * @throws {EspalierError} `E_AGENT_DATA` if another agent holds the folder.
 */
export const takeLease = async (folder: string, holder: string, now: () => number): Promise<Lease> => {
  const lock = join(folder, 'lock')
  const identity = ownIdentity()
  const own = (): string => JSON.stringify({ holder, renewedAt: now(), process: identity })
  const leaseIn = async (path: string): Promise<Held | undefined> =>
    LEASE.safeParse(jsonIn(await readIfExists(path))).data
  const isDead = (lease: Held | undefined): boolean =>
    lease === undefined || now() - lease.renewedAt >= LEASE_MS || (lease.process !== undefined && isGone(lease.process))

  /** Takes over a dead lease. Only one agent may do so at a time, or two would overwrite each other's new lease. */
  const takeOver = async (): Promise<void> => {
    const turn = `${lock}.turn`
    if (!(await isCreated(turn, own()))) {
      // An agent that crashed during a takeover may have left this file. Remove it, so that the next attempt succeeds.
      if (isDead(await leaseIn(turn))) await rm(turn, { force: true })
      throw held(folder)
    }
    try {
      if (!isDead(await leaseIn(lock))) throw held(folder)
      await replaceFile(lock, own(), 'The lock on the data folder', PRIVATE)
    } finally {
      await rm(turn, { force: true })
    }
  }
  const check = async (): Promise<void> => {
    if ((await leaseIn(lock))?.holder !== holder) throw held(folder, 'has taken over')
  }
  const renew = async (): Promise<void> => {
    await check()
    await replaceFile(lock, own(), 'The lock on the data folder', PRIVATE)
  }
  // If two agents start in a new folder, only one creates the file.
  if (!(await isCreated(lock, own()))) {
    const lease = await leaseIn(lock)
    if (lease?.holder === holder) await renew()
    else if (isDead(lease)) await takeOver()
    else throw held(folder)
  }
  return {
    renew,
    check,
    release: async () => {
      if ((await leaseIn(lock))?.holder === holder) await rm(lock, { force: true })
    },
  }
}

/** Creates a file atomically, so that a lease that is still being written is never mistaken for a damaged one. */
const isCreated = async (path: string, text: string): Promise<boolean> => {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, text, { flag: 'wx', mode: PRIVATE })
    await link(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Returns `undefined` if there is no text, or if it is not JSON. */
export const jsonIn = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const held = (folder: string, does = 'uses'): EspalierError =>
  new EspalierError('E_AGENT_DATA', `Another agent ${does} the data folder ${folder}.`, {
    hint: 'Stop it, or choose another folder with --data.',
  })

/** Returns `undefined` if the system does not expose it. Such a process counts as dead only after a timeout. */
const ownIdentity = (): Identity | undefined => {
  const [boot, start] = [bootId(), startOf(process.pid)]
  return boot === undefined || start === undefined ? undefined : { host: hostname(), boot, pid: process.pid, start }
}

/** Whether the process is certainly dead. This is never certain for a process on another machine. */
const isGone = ({ host, boot, pid, start }: Identity): boolean => {
  const now = bootId()
  if (now === undefined || host !== hostname()) return false
  return boot !== now || startOf(pid) !== start
}

const bootId = (): string | undefined => readIfPresent('/proc/sys/kernel/random/boot_id')?.trim()

/** Reads the start time, which follows the process name in parentheses. The name may contain spaces. */
const startOf = (pid: number): string | undefined =>
  readIfPresent(`/proc/${pid}/stat`)?.split(')').at(-1)?.trim().split(' ')[19]
