/** Finds the API key. No flag contains the key, because flags are visible in shell histories and process lists. */
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { checkKey } from '../../api/index.ts'
import { EspalierError, fileProblem, plainText, readBoundedFile } from '../../base/index.ts'
import { print } from '../terminal/terminal.ts'
import type { Environment, Io } from './io.ts'

const MAX_KEY_FILE_BYTES = 1024 * 1024
const HINT =
  'Set ESPALIER_API_KEY or NEON_API_KEY, or use --api-key-file FILE. To try Espalier without an account, use --sandbox=SEED.yaml.'

/**
 * Reads the key from `--api-key-file`, or else from ESPALIER_API_KEY, or else from NEON_API_KEY.
 *
 * @throws {EspalierError} `E_KEY` if there is no key, or if the file cannot be read.
 */
export const findKey = async (file: string | undefined, io: Pick<Io, 'env' | 'locate' | 'stderr'>): Promise<string> => {
  const key = await readKey(file, io)
  if (file !== undefined) await warnOfOthers(file, io)
  return key
}

/** Reads the key without a warning, as when it is read again. @throws {EspalierError} `E_KEY` */
export const readKey = async (
  file: string | undefined,
  { env, locate }: Pick<Io, 'env' | 'locate'>,
): Promise<string> => {
  const key = file === undefined ? fromEnvironment(env) : await fromFile(file, locate)
  if (key === '') {
    const where = file === undefined ? 'There is no API key.' : `The key file ${plainText(file)} is empty.`
    throw new EspalierError('E_KEY', where, { hint: HINT })
  }
  checkKey(key)
  return key
}

/**
 * Warns of a key file that other users can read or change. The group may read the file of another user, because this is
 * how an administrator gives the key to a service.
 */
export const warnOfOthers = async (file: string, { locate, stderr }: Pick<Io, 'locate' | 'stderr'>): Promise<void> => {
  // Only regular files are checked, because a pipe can be read only once. Windows has no such permission bits.
  const info = await stat(locate(file)).catch(() => undefined)
  if (process.platform === 'win32' || info?.isFile() !== true) return
  if ((info.mode & (info.uid === process.getuid?.() ? 0o077 : 0o037)) === 0) return
  print(
    `warning  Other users of this machine can read or change the key file. To prevent this, run: chmod 600 ${plainText(file)}`,
    stderr,
  )
}

/** Whether there is a key, which can also be the key of a sandbox. The key is not checked. */
export const hasKey = (
  flags: { readonly apiKeyFile?: string | undefined; readonly sandbox?: string | undefined },
  { env }: Pick<Io, 'env'>,
): boolean => flags.sandbox !== undefined || flags.apiKeyFile !== undefined || fromEnvironment(env) !== ''

const fromEnvironment = (env: Environment): string => env.ESPALIER_API_KEY?.trim() || env.NEON_API_KEY?.trim() || ''

const fromFile = async (file: string, locate: Io['locate']): Promise<string> => {
  rejectKeyAsPath(file, locate)
  try {
    return (await readBoundedFile(locate(file), MAX_KEY_FILE_BYTES)).trim()
  } catch (cause) {
    throw new EspalierError('E_KEY', `The key file ${plainText(file)} cannot be read (${fileProblem(cause)}).`, {
      hint: HINT,
      cause,
    })
  }
}

/**
 * A key that was given in place of the path of its file must not be printed, not even in a suggested command.
 *
 * @throws {EspalierError} `E_KEY` if there is no such file, and its name looks like a key.
 */
export const rejectKeyAsPath = (file: string, locate: Io['locate']): void => {
  if (existsSync(locate(file)) || !/^[\w-]{32,}$|napi_[\w-]{20}/.test(basename(file.trim()))) return
  throw new EspalierError('E_KEY', 'There is no such key file. Its name looks like a key, so it is not shown.', {
    hint: 'Write the key to a file, and give the path of the file.',
  })
}
