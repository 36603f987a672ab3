/** A lock file that contains a process id. It ensures that only one sandbox at a time uses a folder. */
import { linkSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../../base/index.ts'
import { EspalierError } from '../../model/index.ts'

/**
 * The folders that this process has locked. Their lock files contain this process's id, but an earlier process that had
 * the same id may have left such files too.
 */
const heldHere = new Set<string>()

/**
 * Locks the folder, unless a running process holds the lock. Returns a function that releases it.
 *
 * @throws {EspalierError} `E_SANDBOX_STATE` if another sandbox uses the folder.
 */
export const takeLock = (directory: string): (() => void) => {
  const lock = join(directory, 'lock')
  const held = realpathSync(directory)
  if (heldHere.has(held)) throw inUse(directory, process.pid)
  // Write a separate file and link it, so that no other process reads a lock file that has no process id yet.
  const own = `${lock}.${process.pid}`
  writeFileSync(own, `${process.pid}\n`, { mode: 0o600 })
  try {
    while (!tryLink(own, lock)) {
      const holder = Number(readFileSync(lock, 'utf8'))
      if (holder !== process.pid && holder > 0 && isAlive(holder)) throw inUse(directory, holder)
      rmSync(lock, { force: true })
    }
  } finally {
    rmSync(own, { force: true })
  }
  heldHere.add(held)
  return () => {
    rmSync(lock, { force: true })
    heldHere.delete(held)
  }
}

const inUse = (directory: string, holder: number): EspalierError =>
  new EspalierError('E_SANDBOX_STATE', `Another sandbox (process ${holder}) is using the folder ${directory}.`, {
    hint: `To use that sandbox, leave out --sandbox and set ESPALIER_BASE_URL and ESPALIER_API_KEY to the address and key that it printed. Otherwise stop it, or choose another folder. If process ${holder} is not a sandbox, delete ${join(directory, 'lock')}.`,
  })

const tryLink = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
