/** Writes HTML pages to disk. */
import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { PRIVATE, rejectLink, replaceFile } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { STDIN } from './command.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'
import { print } from './terminal.ts'

/** What pages need that `report` does not provide. */
export const PAGE_FRAME = {
  version: VERSION,
  sha256: (text: string): string => createHash('sha256').update(text).digest('base64'),
}

/** Writes the page and prints the path of its file. @throws {EspalierError} `E_OUT` */
export type WritePage = (text: string) => Promise<void>

/**
 * Opens the file named by `--out` if the format is HTML.
 *
 * @throws {EspalierError} the errors of {@link openPage}, and `E_USAGE` if `--out` is missing.
 */
export const openPageOf = async (
  { format, out }: { readonly format: string; readonly out?: string | undefined },
  command: string,
  io: Io,
): Promise<WritePage | undefined> => {
  if (format !== 'html') return undefined
  if (out !== undefined) return openPage(out, 'out', io)
  throw usageError('--format html needs --out FILE.', `For example: espalier ${command} --format html --out plan.html`)
}

/**
 * Checks that a page can be written to the path, without changing an existing file.
 *
 * @param flag the flag that names the file.
 * @throws {EspalierError} `E_USAGE` if the path means stdout, `E_OUT` if the page cannot be written to it.
 */
export const openPage = async (given: string, flag: string, { locate, stderr }: Io): Promise<WritePage> => {
  if (given === STDIN) {
    throw usageError(`--${flag} cannot write an HTML page to stdout.`, `Name a file: --${flag} page.html.`)
  }
  const path = locate(given)
  const fail = (cause: NodeJS.ErrnoException): never => {
    throw new EspalierError('E_OUT', `The page cannot be written to ${given} (${cause.code ?? cause.message}).`, {
      hint: `Name another file with --${flag}.`,
      cause,
    })
  }
  const there = await stat(path).catch(() => undefined)
  // Writing ends with a rename, which would replace a device. For a folder, it would fail, but only after the run.
  if (there !== undefined && !there.isFile()) fail(new Error('it exists and is not a regular file'))
  await rejectLink(path).catch(fail)
  const draft = `${path}.${process.pid}.tmp`
  await writeFile(draft, '', { flag: 'wx' })
    .then(() => rm(draft))
    .catch(fail)
  return async (text) => {
    await replaceFile(path, text, 'The page', PRIVATE)
    print(`Wrote the page to ${given}.`, stderr)
  }
}
