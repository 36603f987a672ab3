/** Pages on disk: whole or not at all. */
import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { PRIVATE, refuseLink, replaceFile } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'
import { STDIN } from './stdin.ts'

/** What a page needs of its surroundings. */
export const PAGE_FRAME = {
  version: VERSION,
  sha256: (text: string): string => createHash('sha256').update(text).digest('base64'),
}

export interface PageFile {
  /** @throws {EspalierError} `E_OUT` */
  write(text: string): Promise<void>
}

/** With `--format html`, `--out` names the page. @throws {EspalierError} as {@link openPage}, and `E_USAGE` without `--out`. */
export const openPageOf = async (
  { format, out }: { readonly format: string; readonly out?: string | undefined },
  command: string,
  io: Io,
): Promise<PageFile | undefined> => {
  if (format !== 'html') return undefined
  if (out !== undefined) return openPage(out, 'out', io)
  throw usageError(
    '--format html needs --out FILE: a page is opened in a browser, not read in a terminal.',
    `For example: espalier ${command} --format html --out plan.html`,
  )
}

/**
 * Tries whether a page can be written to `path`, and leaves what is there as it is.
 *
 * @param flag the one that named it.
 * @throws {EspalierError} `E_USAGE` for stdout, `E_OUT` if it cannot be written.
 */
export const openPage = async (given: string, flag: string, { locate }: Io): Promise<PageFile> => {
  if (given === STDIN) {
    throw usageError(
      `--${flag} cannot write to stdout: a page is opened in a browser.`,
      `Name one, like --${flag} page.html.`,
    )
  }
  const path = locate(given)
  const failed = (cause: NodeJS.ErrnoException): never => {
    throw new EspalierError('E_OUT', `The page cannot be written to ${given} (${cause.code ?? cause.message}).`, {
      hint: `Name another file with --${flag}.`,
      cause,
    })
  }
  const there = await stat(path).catch(() => undefined)
  // A rename onto a device or a folder would replace it, or fail only once everything is done.
  if (there !== undefined && !there.isFile()) failed(new Error('it is there, and no regular file'))
  await refuseLink(path).catch(failed)
  const draft = `${path}.${process.pid}.tmp`
  await writeFile(draft, '', { flag: 'wx' })
    .then(() => rm(draft))
    .catch(failed)
  return { write: (text) => replaceFile(path, text, 'The page', PRIVATE) }
}
