/** Files: where they are, read within bounds, written whole or not at all. */
import { readdirSync } from 'node:fs'
import { lstat, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { EspalierError } from './errors.ts'

/**
 * Whether `path` is `folder` or is below it. Both absolute, or both relative to one folder; links are not followed. A
 * name may begin with two dots: Kubernetes mounts ConfigMaps through `..data`.
 */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** The names in a folder; none if it cannot be read. */
export const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** More was to come than is read. */
export class TooLongError extends Error {
  constructor(limitBytes: number) {
    super(`it has more than ${Math.round(limitBytes / 1024 / 1024)} MiB`)
  }
}

/**
 * A whole UTF-8 text, from a stream that may never end.
 *
 * @throws {TooLongError} beyond `limitBytes`.
 */
export const readBounded = async (stream: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of stream) {
    bytes += part.length
    if (bytes > limitBytes) throw new TooLongError(limitBytes)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The same of a file, or of what is in its place (`<(…)`, /dev/stdin). */
export const readBoundedFile = async (path: string, limitBytes: number): Promise<string> => {
  const file = await open(path, 'r')
  try {
    return await readBounded(file.createReadStream({ autoClose: false }), limitBytes)
  } finally {
    await file.close()
  }
}

/** Readable by the owner only: live values are private. */
export const PRIVATE = 0o600

/**
 * A commit can bring a link of the name that a file is to have, and writing through it would change a file elsewhere. What
 * leads to a pipe or a terminal (`/dev/stdout`, `>(…)`) is not such a link.
 *
 * @throws {Error} that says how to avoid it.
 */
export const refuseLink = async (path: string): Promise<void> => {
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true
  if (isLink && (await stat(path).catch(() => undefined))?.isFile() !== false) {
    throw new Error('it is a link, and links are not written through: name the file itself, or remove the link')
  }
}

/**
 * Writes next to the file and puts it in its place, so that a crash or a full disk leaves what was there. Links are refused.
 *
 * @param what begins the message where that fails: `The plan`.
 * @param mode of the file; without it, an existing file keeps its own.
 * @throws {EspalierError} `E_OUT`
 */
export const replaceFile = async (file: string, text: string, what: string, mode?: number): Promise<void> => {
  const draft = `${file}.${crypto.randomUUID().slice(0, 8)}.tmp`
  try {
    await refuseLink(file)
    const info = await stat(file).catch(() => undefined)
    // A pipe or a terminal is written to, not replaced.
    if (info?.isFile() === false) return await writeFile(file, text)
    const handle = await open(draft, 'wx', mode)
    try {
      await handle.writeFile(text)
      const wanted = mode ?? info?.mode
      if (wanted !== undefined) await handle.chmod(wanted)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    const { code, message } = cause as NodeJS.ErrnoException
    throw new EspalierError('E_OUT', `${what} cannot be written to ${file} (${code ?? message}).`, { cause })
  }
}
