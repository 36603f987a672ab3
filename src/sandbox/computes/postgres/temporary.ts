/**
 * Temporary folders of a sandbox. The data is in memory if possible, because creating a branch's thousand small files
 * is much faster there.
 */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isAlive } from '../../../base/index.ts'

const PREFIX = 'espalier-pg-'
/** A file that proves that a sandbox of this user created the folder, whose owner may have changed. */
const MARK = '.espalier'
const IN_MEMORY = '/dev/shm'
/** Enough for about thirty branches. Containers often have far less. */
const ENOUGH_BYTES = 1024 ** 3

export const makeDataFolder = (): string => makeIn(hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir())

/** A folder whose path is short enough for sockets. */
export const makeSocketFolder = (): string => makeIn(tmpdir())

const makeIn = (parent: string): string => {
  removeStale(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  writeFileSync(join(folder, MARK), basename(folder), { mode: 0o600 })
  return folder
}

const hasRoom = (parent: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(parent)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/**
 * Removes folders that this user's sandboxes left because they were killed together with their watchdog. Anyone can
 * create folders in `parent`, so those without our mark are left alone.
 */
export const removeStale = (parent: string): void => {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    if (!(pid > 0) || isAlive(pid) || !isOwn(join(parent, name))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // Another sandbox may be removing it at the same time.
    }
  }
}

/** Does not follow links. A sandbox run by root gives its folders to another user, but root still owns the mark. */
const isOwn = (folder: string): boolean => {
  const user = process.getuid?.()
  const mark = join(folder, MARK)
  try {
    const [outer, inner] = [lstatSync(folder), lstatSync(mark)]
    const isMine = inner.uid === user && (outer.uid === user || user === 0)
    return isMine && outer.isDirectory() && inner.isFile() && readFileSync(mark, 'utf8') === basename(folder)
  } catch {
    return false
  }
}
