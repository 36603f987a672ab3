/** Folders that go with the sandbox. A thousand small files a branch are made far sooner in memory than on a disk. */
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'espalier-pg-'
const IN_MEMORY = '/dev/shm'
/** Some thirty branches' worth; a container often has far less. */
const ENOUGH_BYTES = 1024 ** 3

/** A folder for data. */
export const makeDataFolder = (): string => makeIn(hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir())

/** A folder whose path is short enough for sockets. */
export const makeSocketFolder = (): string => makeIn(tmpdir())

const makeIn = (parent: string): string => {
  removeStale(parent)
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
}

const hasRoom = (parent: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(parent)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/** What a sandbox left that was killed together with its watchdog. */
const removeStale = (parent: string): void => {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    if (!(pid > 0) || isAlive(pid)) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // Another user's: theirs to remove.
    }
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
