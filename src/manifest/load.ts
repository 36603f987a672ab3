/** Loads manifests from files. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { isInside } from '../base/index.ts'
import { type Diagnostic, type ManifestCode, SIZE_TABLE } from '../model/index.ts'
import { findFiles, leavesTree } from './files/find-files.ts'
import { MAX_FILE_BYTES, MAX_TOTAL_BYTES } from './files/limits.ts'
import { type FindFile, parseWith } from './parse.ts'
import type { LoadedManifests, LoadOptions, ManifestFile } from './types.ts'

/** The text of a manifest and its location. */
export interface LocatedFile extends ManifestFile {
  /** Absolute. */
  readonly file: string
}

/**
 * Reads manifests from files, globs and folders (.yaml and .yml, recursively, without hidden folders and node_modules).
 *
 * @returns everything that could be read, and all problems. Problems in the content of files are never thrown.
 */
export const loadManifests = async (paths: readonly string[], options: LoadOptions = {}): Promise<LoadedManifests> => {
  const cwd = options.cwd ?? process.cwd()
  const { texts, diagnostics } = await readFiles(paths, cwd)
  return parseWith(texts, options.sizeTable ?? SIZE_TABLE, sharedFiles(cwd), diagnostics)
}

/** Reads the files that {@link loadManifests} would find. Reports those that cannot be read. */
export const readFiles = async (
  paths: readonly string[],
  cwd: string,
): Promise<{ readonly texts: readonly LocatedFile[]; readonly diagnostics: readonly Diagnostic[] }> => {
  const { files, diagnostics } = await findFiles(paths, cwd)
  const found: Diagnostic[] = [...diagnostics]
  const texts: LocatedFile[] = []
  let left = MAX_TOTAL_BYTES
  for (const file of files) {
    const shown = shownPath(file, cwd)
    left -= statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (left < 0) {
      found.push(tooMuch(shown))
      break
    }
    const text = (await leavesTree(file, cwd)) ? outside(shown) : readText(file, shown)
    if (typeof text === 'string') texts.push({ file, path: shown, text })
    else found.push(text)
  }
  return { texts, diagnostics: found }
}

const shownPath = (file: string, cwd: string): string => relative(cwd, file).split(sep).join('/')

/** Reads shared files on demand: manifests refer to them. */
const sharedFiles =
  (cwd: string): FindFile =>
  (path) => {
    const file = resolve(cwd, path)
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return 'there is no such file'
    if (!isInside(realpathSync(cwd), realpathSync(file))) return 'a link leads out of the tree there'
    const text = readText(file, path)
    return typeof text === 'string' ? { path, text } : text.message
  }

const readText = (file: string, shown: string): string | Diagnostic => {
  try {
    const size = statSync(file).size
    if (size > MAX_FILE_BYTES) {
      return wrong(
        'E_TOO_LARGE',
        shown,
        `The file has ${Math.round(size / 1024 / 1024)} MiB; at most 32 MiB are read.`,
        'Put each project in a separate file.',
      )
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    if (error instanceof TypeError) {
      return wrong('E_ENCODING', shown, 'The file is not UTF-8.', 'Save it as UTF-8.')
    }
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    return wrong('E_NOT_FOUND', shown, `The file cannot be read${code}.`, 'Check its rights.')
  }
}

const tooMuch = (shown: string): Diagnostic =>
  wrong(
    'E_TOO_LARGE',
    shown,
    'With this file the manifests together have more than 64 MiB; it and what follows is not read.',
    'Name fewer files, and run once for each group of projects.',
  )

const outside = (shown: string): Diagnostic =>
  wrong(
    'E_OUTSIDE',
    shown,
    'This link leads out of the current folder, so it is not followed.',
    'Put a copy in its place.',
  )

const wrong = (code: ManifestCode, file: string, message: string, hint: string): Diagnostic => ({
  severity: 'error',
  code,
  message,
  hint,
  source: { file, line: 1, column: 1, length: 1 },
})
