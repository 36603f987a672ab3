/** Loads manifests from files. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { lstat, realpath, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { fileProblem, isInside } from '../base/index.ts'
import { type Diagnostic, type DiagnosticCode, problem, startOfFile } from '../model/index.ts'
import { FILE_TOO_LARGE, type FindFile, MAX_FILE_BYTES, NO_SUCH_FILE, parseWith } from './parse.ts'
import type { LoadedManifests, ManifestFile } from './types.ts'
import { NO_MANIFESTS_HINT } from './words/words.ts'

/** Total of all files of a run. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024

/** The text of a manifest and its location. */
export interface LocatedFile extends ManifestFile {
  /** Absolute. */
  readonly file: string
}

/**
 * Reads manifests from files, globs and folders (.yaml and .yml, recursively, without hidden folders and node_modules).
 *
 * @param cwd the folder that relative paths start from. `extends` must stay within it.
 * @returns everything that could be read, and all problems. Problems in the content of files are never thrown.
 */
export const loadManifests = async (paths: readonly string[], cwd = process.cwd()): Promise<LoadedManifests> => {
  const { texts, diagnostics, left } = await readFiles(paths, cwd)
  return parseWith(texts, sharedFiles(cwd, left), diagnostics)
}

/** Reads the files that {@link loadManifests} would find. Reports those that cannot be read. */
export const readFiles = async (
  paths: readonly string[],
  cwd: string,
): Promise<{
  readonly texts: readonly LocatedFile[]
  readonly diagnostics: readonly Diagnostic[]
  /** How many more bytes may be read. */
  readonly left: number
}> => {
  const diagnostics: Diagnostic[] = []
  const files = new Set<string>()
  for (const path of paths) {
    const found = await findOne(path, cwd)
    if ('code' in found) diagnostics.push(found)
    else for (const file of found) files.add(file)
  }
  const texts: LocatedFile[] = []
  let left = MAX_TOTAL_BYTES
  for (const file of [...files].sort()) {
    const shown = shownPath(file, cwd)
    left -= statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (left < 0) {
      diagnostics.push(tooMuch(shown))
      break
    }
    const text = (await leavesTree(file, cwd)) ? outside(shown) : readText(file, shown)
    if (typeof text === 'string') texts.push({ file, path: shown, text })
    else diagnostics.push(text)
  }
  return { texts, diagnostics, left }
}

const shownPath = (file: string, cwd: string): string => relative(cwd, file).split(sep).join('/')

/** Reads a shared file when a manifest extends it. @param left how many bytes all shared files may have. */
const sharedFiles = (cwd: string, left: number): FindFile => {
  let remaining = left
  return (path) => {
    const file = resolve(cwd, path)
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) return NO_SUCH_FILE
    if (!isManifestPath(path)) return { message: OTHER_NAME, hint: RENAME }
    if (!found.isFile())
      return { message: 'It is not a file.', hint: 'Name the files in it; `extends` accepts a list.' }
    if (!isInside(realpathSync(cwd), realpathSync(file))) {
      return { message: 'A link on its path leads out of the current folder.', hint: COPY_HINT }
    }
    remaining -= found.size
    if (remaining < 0)
      return { message: 'The manifests and shared files up to this one exceed 64 MiB.', hint: PART_HINT }
    const text = readText(file, path)
    if (typeof text === 'string') return { path, text }
    return text.code === FILE_TOO_LARGE.code ? { ...text, hint: SPLIT_HINT } : text
  }
}

const readText = (file: string, shown: string): string | Diagnostic => {
  const fail = (code: DiagnosticCode, message: string, hint?: string): Diagnostic =>
    problem(code, message, hint, startOfFile(shown))
  try {
    if (statSync(file).size > MAX_FILE_BYTES) {
      return fail(FILE_TOO_LARGE.code, FILE_TOO_LARGE.message, FILE_TOO_LARGE.hint)
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    if (error instanceof TypeError) return fail('E_YAML', 'The file is not UTF-8.', 'Save it as UTF-8.')
    return fail('E_NOT_FOUND', `The file cannot be read (${fileProblem(error)}).`, 'Check its permissions.')
  }
}

const COPY_HINT = 'Replace the link with a copy of the file.'
const PART_HINT = 'Run Espalier several times, each time with a part of the files.'
const SPLIT_HINT = 'Split it into several shared files: `extends` accepts a list.'

const tooMuch = (shown: string): Diagnostic =>
  problem(
    'E_TOO_LARGE',
    'The manifests up to this file exceed 64 MiB. This file and the files after it were not read.',
    PART_HINT,
    startOfFile(shown),
  )

const outside = (shown: string): Diagnostic =>
  problem(
    'E_OUTSIDE',
    'This link leads out of the current folder, so it is not followed.',
    COPY_HINT,
    startOfFile(shown),
  )

/** Whether a file may be a manifest or shared file. No others are read, neither from disk nor from a commit. */
export const isManifestPath = (path: string): boolean => /\.ya?ml$/.test(path)

const OTHER_NAME = 'Its name does not end in .yaml or .yml.'
const RENAME = 'Rename it.'

const IGNORED = ['**/node_modules/**']

/** The files for a path, folder or glob, as absolute paths. */
const findOne = async (path: string, cwd: string): Promise<readonly string[] | Diagnostic> => {
  const absolute = resolve(cwd, path)
  const info = await stat(absolute).catch(() => undefined)
  if (info?.isDirectory() === true) {
    const found = await walk('**/*.{yaml,yml}', absolute)
    return found.length > 0
      ? found
      : problem('E_NO_MANIFESTS', `The folder ${path} contains no .yaml or .yml file.`, NO_MANIFESTS_HINT)
  }
  if (info?.isFile() === true) {
    return isManifestPath(absolute) ? [absolute] : problem('E_NOT_FOUND', `${path} is not read. ${OTHER_NAME}`, RENAME)
  }
  if (info === undefined && (await globbing()).isDynamicPattern(path)) {
    const found = await walk(path, cwd)
    return found.length > 0 ? found : problem('E_NOT_FOUND', `The glob ${path} matches no .yaml or .yml file.`, PATH)
  }
  if (info !== undefined) return problem('E_NOT_FOUND', `${path} is neither a file nor a folder.`, PATH)
  return problem('E_NOT_FOUND', `The file or folder ${path} does not exist.`, /^[\w-]+$/.test(path) ? PROJECT : PATH)
}

/** Loaded on demand, because loading takes a tenth of the time of `validate` and plain paths need no globbing. */
const globbing = () => import('tinyglobby')

const walk = async (pattern: string, cwd: string): Promise<string[]> => {
  const found = await (await globbing()).glob(pattern, {
    cwd,
    absolute: true,
    ignore: IGNORED,
    followSymbolicLinks: false,
    expandDirectories: false,
  })
  return found.filter(isManifestPath)
}

/**
 * Whether a symlink (the file itself or a folder above it) leads out of the tree. If it were followed, the text of any
 * file could end up in a pull request comment. Paths that are explicitly outside the tree are allowed.
 */
const leavesTree = async (file: string, root: string): Promise<boolean> => {
  if (!isInside(root, file) && !(await lstat(file)).isSymbolicLink()) return false
  return !isInside(await realpath(root), await realpath(file))
}

const PATH = 'Paths are relative to the current folder. Quote globs so that the shell does not expand them.'
/** Hint for an argument that looks like the name or id of a project. */
const PROJECT =
  'Arguments are paths, relative to the current folder. Commands that read live projects accept --project ID.'
