/**
 * The life of a process within a test: until it dies, as after `kill -9`. From then on it never wakes up, and nothing that
 * it writes into its data folder reaches the disk.
 */
import { promises } from 'node:fs'
import { type FileHandle, symlink, unlink } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { Clock } from '../../src/model/index.ts'

/** Dies at a moment that it counts: just before that is done, or just after. */
export interface Death {
  readonly moment: number
  readonly isDone: boolean
}

const never = new Promise<never>(() => undefined)
/** By the path that each process has for its data folder. */
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

  /** @returns a path of its own for the data folder `folder`. */
  async begin(folder: string, alias: string): Promise<string> {
    await symlink(folder, alias)
    this.#folder = alias
    lives.set(alias, this)
    return alias
  }

  kill(): void {
    this.isDead = true
  }

  /** Of the process that has ended or was killed: what the system cleans up. */
  async end(): Promise<void> {
    lives.delete(this.#folder)
    await unlink(this.#folder).catch(() => undefined)
    await Promise.all([...this.#handles].map((handle) => handle.close().catch(() => undefined)))
  }

  /** Something that the world outside of the process notices: a moment to die. */
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

  /** The same, of what is done already. */
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

  /** A journal: each of its lines is a moment. */
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

const { open, rename } = promises
promises.rename = async (from, to) => {
  const life = lifeOf(to)
  return life === undefined ? rename(from, to) : life.moment(() => rename(from, to))
}
promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest)
  lifeOf(path)?.watch(handle)
  return handle
}
syncBuiltinESMExports()
