/** Postgres refuses to run as root, so there it runs as another user. */
import { execFile } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { EspalierError, withoutSecrets } from '../../../model/index.ts'

export interface RunAs {
  /** The program and its arguments as they are to be started. */
  readonly command: (program: string, args: readonly string[]) => readonly [string, readonly string[]]
  readonly ids: { readonly uid?: number; readonly gid?: number }
  /** Hands a file or folder to that user. */
  readonly own: (path: string) => void
}

/** `nobody` of every Linux and most others; Postgres wants a user that has a name. */
const NOBODY = 65_534
const ALL_MAY_ENTER = 0o001

const asOneself: RunAs = { command: (program, args) => [program, args], ids: {}, own: () => undefined }

/**
 * @param own where the data is; it is handed to that user.
 * @param programs folders that the programs read.
 * @throws {EspalierError} `E_POSTGRES_ROOT` if this is root and no other user can do it.
 */
export const runAs = async (own: string, programs: readonly string[]): Promise<RunAs> => {
  if (process.getuid?.() !== 0) return asOneself
  const folders = [dirname(resolve(own)), ...programs]
  if (folders.every(isOpenToAll)) {
    return {
      ...asOneself,
      ids: { uid: NOBODY, gid: NOBODY },
      own: (path) => chownSync(path, NOBODY, NOBODY),
    }
  }
  // Root itself, under another number: it may enter what only root may.
  const mapped = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  try {
    await promisify(execFile)('unshare', [...mapped, 'true'], { env: withoutSecrets(process.env) })
  } catch (cause) {
    const closed = folders.find((folder) => !isOpenToAll(folder))
    throw new EspalierError('E_POSTGRES_ROOT', 'Postgres does not run as root, and no other user may do it here.', {
      hint: `Run the sandbox as another user, or open ${closed} and the folders above it to all users (chmod o+x).`,
      cause,
    })
  }
  return { ...asOneself, command: (program, args) => ['unshare', [...mapped, program, ...args]] }
}

/** Whether everyone may enter it and every folder above it. */
const isOpenToAll = (folder: string): boolean => {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & ALL_MAY_ENTER) === 0) return false
    if (path === dirname(path)) return true
  }
}
