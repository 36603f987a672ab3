/** Writes HTML pages to disk. */
import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { EspalierError, fileProblem, PRIVATE, rejectLink, replaceFile } from '../../base/index.ts'
import { VERSION } from '../../base/version.ts'
import type { PageFrame } from '../../report/html/index.ts'
import { STDIN } from '../command.ts'
import { usageError } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { print } from './terminal.ts'

/** What pages need that `report` does not provide. */
const FRAME: PageFrame = {
  version: VERSION,
  sha256: (text: string): string => createHash('sha256').update(text).digest('base64'),
}

type Pages = typeof import('../../report/html/index.ts')

/** Renders and writes the page, and prints the path of its file. @throws {EspalierError} `E_OUT` */
export type WritePage = (render: (pages: Pages, frame: PageFrame) => string) => Promise<void>

/**
 * Checks that a page can be written to the file that `--html` names, without changing an existing file.
 *
 * @returns `undefined` if the flag is not given.
 * @throws {EspalierError} `E_USAGE` if the path means stdout, `E_OUT` if the page cannot be written to it.
 */
export const openPageOf = async (
  { html: given }: { readonly html?: string | undefined },
  { locate, stderr }: Io,
): Promise<WritePage | undefined> => {
  if (given === undefined) return undefined
  if (given === STDIN) throw usageError('--html cannot write a page to stdout.', 'Name a file: --html page.html.')
  const path = locate(given)
  const fail = (cause: NodeJS.ErrnoException): never => {
    throw new EspalierError('E_OUT', `The page cannot be written to ${given} (${fileProblem(cause)}).`, {
      hint: 'Name another file with --html.',
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
  return async (render) => {
    // Loaded only on demand, because it needs an HTML library.
    const text = render(await import('../../report/html/index.ts'), FRAME)
    await replaceFile(path, text, 'The page', PRIVATE)
    print(`Wrote the page to ${given}.`, stderr)
  }
}
