/** Postgres refuses to run as root, so a sandbox that was started as root runs Postgres as another user. */
import { execFile } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { withoutSecrets } from '../../../base/index.ts'
import { EspalierError } from '../../../model/index.ts'

export interface RunAs {
  /** The program and arguments to start. */
  readonly command: (program: string, args: readonly string[]) => readonly [string, readonly string[]]
  readonly ids: { readonly uid?: number; readonly gid?: number }
  /** Changes the owner of a file or folder to the user that runs Postgres. */
  readonly own: (path: string) => void
}

/** The id of the user `nobody` on Linux and most other systems. Postgres does not start under a user id that has no user name. */
const NOBODY = 65_534
const ALL_MAY_ENTER = 0o001

const asCurrentUser: RunAs = { command: (program, args) => [program, args], ids: {}, own: () => undefined }

/**
 * @param own the data folder.
 * @param programs the folders that the programs of Postgres read.
 * @throws {EspalierError} `E_POSTGRES` if this process runs as root and no other user can access the folders.
 */
export const runAs = async (own: string, programs: readonly string[]): Promise<RunAs> => {
  if (process.getuid?.() !== 0) return asCurrentUser
  const folders = [dirname(resolve(own)), ...programs]
  if (folders.every(isOpenToAll)) {
    return {
      ...asCurrentUser,
      ids: { uid: NOBODY, gid: NOBODY },
      own: (path) => chownSync(path, NOBODY, NOBODY),
    }
  }
  // In a user namespace, Postgres has another user id, but can still access folders that only root can enter.
  const mapped = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  try {
    await promisify(execFile)('unshare', [...mapped, 'true'], { env: withoutSecrets(process.env) })
  } catch (cause) {
    const closed = folders.find((folder) => !isOpenToAll(folder))
    throw new EspalierError(
      'E_POSTGRES',
      'Postgres refuses to run as root, and no other user can access its folders.',
      {
        hint: `Run the sandbox as another user, or give all users access to ${closed} and its parents (chmod o+x).`,
        cause,
      },
    )
  }
  return { ...asCurrentUser, command: (program, args) => ['unshare', [...mapped, program, ...args]] }
}

/** Whether all users can enter the folder and its parents. */
const isOpenToAll = (folder: string): boolean => {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & ALL_MAY_ENTER) === 0) return false
    if (path === dirname(path)) return true
  }
}
