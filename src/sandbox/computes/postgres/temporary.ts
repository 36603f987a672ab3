/**
 * The temporary folders of a sandbox. If possible, the data is kept in memory, where creating the thousand small files
 * of a branch is much faster.
 */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isAlive } from '../../../base/index.ts'

const PREFIX = 'espalier-pg-'
/** A file that proves that a sandbox of this user created the folder, even if the owner of the folder has changed. */
const MARK = '.espalier'
const IN_MEMORY = '/dev/shm'
/** How much memory must be available. This is enough for about thirty branches. Containers often have far less. */
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
 * Removes folders of this user's sandboxes that were killed together with their watchdogs. Anyone can create folders in
 * `parent`, so folders without the sandbox's mark are not touched.
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

/**
 * Whether a sandbox of this user created the folder. Links are not followed. If root runs a sandbox, another user owns
 * its folders, but root still owns the mark.
 */
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
