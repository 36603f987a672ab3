/** Files that are there whole or not at all. */
import { randomUUID } from 'node:crypto'
import { open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { EspalierError } from '../model/index.ts'

/**
 * Writes beside the file and puts it in its place, so that a crash or a full disk leaves what was there. A link is
 * followed; the file's rights are kept.
 *
 * @throws {EspalierError} E_OUT
 */
export const replaceFile = async (file: string, text: string, what: string): Promise<void> => {
  const target = await realpath(file).catch(() => file)
  const beside = `${target}.${randomUUID().slice(0, 8)}.tmp`
  try {
    const info = await stat(target).catch(() => undefined)
    // A pipe or a terminal is written to, not replaced.
    if (info?.isFile() === false) return await writeFile(target, text)
    const handle = await open(beside, 'wx')
    try {
      await handle.writeFile(text)
      if (info !== undefined) await handle.chmod(info.mode)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(beside, target)
  } catch (cause) {
    await rm(beside, { force: true }).catch(() => undefined)
    throw cannotWrite(file, what, cause as NodeJS.ErrnoException)
  }
}

const cannotWrite = (file: string, what: string, cause: NodeJS.ErrnoException): EspalierError =>
  new EspalierError('E_OUT', `${what} cannot be written to ${file} (${cause.code ?? cause.message}).`, { cause })
