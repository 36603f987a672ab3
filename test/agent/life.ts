/**
 * Simulates a process within a test, including `kill -9`: after its death, it never continues, and its writes to the
 * data folder do not reach the disk.
 */
import { promises } from 'node:fs'
import { type FileHandle, symlink, unlink } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { Clock } from '../../src/base/index.ts'

/** The process dies at this moment: just before its effect, or just after. */
export interface Death {
  readonly moment: number
  readonly isDone: boolean
}

const never = new Promise<never>(() => undefined)
/** By the path under which each process accesses its data folder. */
const lives = new Map<string, Life>()

export class Life {
  readonly #death: Death | undefined
  readonly #handles = new Set<FileHandle>()
  #folder = ''
  moments = 0
  isDead = false

  constructor(death?: Death) {
    this.#death = death
  }

  /** @returns a path to `folder` for this process alone. */
  async begin(folder: string, alias: string): Promise<string> {
    await symlink(folder, alias)
    this.#folder = alias
    lives.set(alias, this)
    return alias
  }

  kill(): void {
    this.isDead = true
  }

  /** Releases what the operating system would release after the process ended or was killed. */
  async end(): Promise<void> {
    lives.delete(this.#folder)
    await unlink(this.#folder).catch(() => undefined)
    await Promise.all([...this.#handles].map((handle) => handle.close().catch(() => undefined)))
  }

  /** Runs `work`, which has an effect outside the process and is therefore a moment to die at. */
  async moment<T>(work: () => Promise<T>): Promise<T> {
    if (this.isDead) return never
    this.moments += 1
    const isLast = this.moments === this.#death?.moment
    if (isLast && this.#death?.isDone === false) this.kill()
    if (this.isDead) return never
    const result = await work()
    if (isLast) this.kill()
    return this.isDead ? never : result
  }

  /** Counts an effect that has already happened. */
  passed(): void {
    if (this.isDead) return
    this.moments += 1
    if (this.moments === this.#death?.moment) this.kill()
  }

  clock(clock: Clock): Clock {
    const whileAlive = <T>(done: (value: T) => void) => {
      return (value: T): void => {
        if (!this.isDead) done(value)
      }
    }
    return {
      ...clock,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (!this.isDead) clock.sleep(ms, signal).then(whileAlive(resolve), whileAlive(reject))
        }),
    }
  }

  /** A journal file: each line written to it is a moment. */
  watch(handle: FileHandle): void {
    this.#handles.add(handle)
    const append = handle.appendFile.bind(handle)
    handle.appendFile = (...args) => this.moment(() => append(...args))
    const close = handle.close.bind(handle)
    handle.close = () => {
      this.#handles.delete(handle)
      return close()
    }
  }
}

const lifeOf = (path: unknown): Life | undefined => {
  for (const [folder, life] of lives) if (String(path).startsWith(`${folder}/`)) return life
  return undefined
}

/** While it is full, nothing can be written to any data folder that still has its reserve. */
export const disk = { isFull: false }
const rejectIfFull = async (path: unknown): Promise<void> => {
  const folder = [...lives.keys()].find((one) => String(path).startsWith(`${one}/`))
  if (!disk.isFull || folder === undefined) return
  if (String(path).endsWith('/reserve') || (await promises.stat(`${folder}/reserve`).catch(() => undefined)))
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
}

const { open, rename, writeFile } = promises
promises.writeFile = async (path, ...rest) => {
  await rejectIfFull(path)
  return writeFile(path, ...rest)
}
promises.rename = async (from, to) => {
  const life = lifeOf(to)
  return life === undefined ? rename(from, to) : life.moment(() => rename(from, to))
}
promises.open = async (path, ...rest) => {
  if (rest[0] !== 'r') await rejectIfFull(path)
  const handle = await open(path, ...rest)
  lifeOf(path)?.watch(handle)
  return handle
}
syncBuiltinESMExports()
