/** Reads files up to a size limit, and writes them atomically. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { EspalierError } from './errors.ts'

/**
 * Whether `path` is `folder` or inside it. Both must be absolute, or relative to the same folder. Does not follow
 * links. Names may start with two dots, like `..data`, through which Kubernetes mounts ConfigMaps.
 */
export const isInside = (folder: string, path: string): boolean => {
  const route = relative(folder, path)
  return route !== '..' && !route.startsWith(`..${sep}`) && !isAbsolute(route)
}

/** The names in a folder; empty if it cannot be read. */
export const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * The text of a file; `undefined` if there is no such file.
 *
 * @throws {TooLongError} beyond `limitBytes`.
 */
export const readIfExists = async (path: string, limitBytes?: number): Promise<string | undefined> => {
  try {
    return limitBytes === undefined ? await readFile(path, 'utf8') : await readBoundedFile(path, limitBytes)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** The text of a file; `undefined` if it cannot be read. */
export const readIfPresent = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * Makes a folder for the program's state, and makes git ignore it, because it may be inside the repository of the
 * manifests and contain keys or another repository. An existing folder is not changed.
 *
 * @param mode the file mode of a new folder.
 */
export const makeStateFolder = (folder: string, mode: number): void => {
  const isNew = mkdirSync(folder, { recursive: true, mode }) !== undefined
  if (isNew) writeFileSync(join(folder, '.gitignore'), '*\n')
}

/** Makes a folder and its missing parents. @throws {EspalierError} `E_OUT` */
export const makeFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_OUT', `${folder} cannot be created (${fileProblem(cause)}).`, { cause })
  })
}

/** Why a file cannot be read or written, to complete a sentence. */
export const fileProblem = (cause: unknown): string => {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return FILE_PROBLEMS[code] ?? (code || message)
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is a file',
}

/** Thrown if the input exceeds the limit. */
export class TooLongError extends Error {
  constructor(limitBytes: number) {
    super(`it is larger than ${Math.round(limitBytes / 1024 / 1024)} MiB`)
  }
}

/**
 * Reads UTF-8 text from a stream that may never end.
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

/** {@link readBounded} for a file or a pipe (`<(…)`, /dev/stdin). */
export const readBoundedFile = async (path: string, limitBytes: number): Promise<string> => {
  const file = await open(path, 'r')
  try {
    return await readBounded(file.createReadStream({ autoClose: false }), limitBytes)
  } finally {
    await file.close()
  }
}

/** File mode: readable by the owner only. */
export const PRIVATE = 0o600

/**
 * Rejects links to files. A commit can contain a symlink in place of an output file, and writing through the link would
 * change another file. Links to a pipe or a terminal (`/dev/stdout`, `>(…)`) are allowed.
 *
 * @throws {Error} if `path` is a link to a file.
 */
export const rejectLink = async (path: string): Promise<void> => {
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true
  if (isLink && (await stat(path).catch(() => undefined))?.isFile() !== false) {
    throw new Error(
      'it is a symbolic link, which Espalier does not write through: name the file itself, or remove the link',
    )
  }
}

/**
 * Writes a temporary file and renames it, so that a crash or a full disk leaves the old content intact. Rejects
 * symlinks.
 *
 * @param what subject of the error message: `The plan`.
 * @param mode file mode. Default: that of the existing file.
 * @throws {EspalierError} `E_OUT`
 */
export const replaceFile = async (file: string, text: string, what: string, mode?: number): Promise<void> => {
  const draft = `${file}.${crypto.randomUUID().slice(0, 8)}.tmp`
  try {
    await rejectLink(file)
    const info = await stat(file).catch(() => undefined)
    // Write to a pipe or a terminal rather than replace it.
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
