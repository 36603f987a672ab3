/** Finds the files for paths, folders and globs. */
import { lstat, realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isInside } from '../../base/index.ts'
import { type Diagnostic, problem } from '../../model/index.ts'

export interface FoundFiles {
  /** Absolute and sorted, without duplicates. */
  readonly files: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

const EXTENSIONS = '**/*.{yaml,yml}'
const IGNORED = ['**/node_modules/**']

export const findFiles = async (paths: readonly string[], cwd: string): Promise<FoundFiles> => {
  const files = new Set<string>()
  const diagnostics: Diagnostic[] = []
  for (const path of paths) {
    const found = await findOne(path, cwd)
    if (Array.isArray(found)) for (const file of found) files.add(file)
    else diagnostics.push(found as Diagnostic)
  }
  return { files: [...files].sort(), diagnostics }
}

const findOne = async (path: string, cwd: string): Promise<readonly string[] | Diagnostic> => {
  const absolute = resolve(cwd, path)
  const info = await stat(absolute).catch(() => undefined)
  if (info?.isDirectory() === true) {
    const found = await walk(EXTENSIONS, absolute)
    return found.length > 0
      ? found
      : problem('E_NO_MANIFESTS', `The folder ${path} contains no .yaml or .yml file.`, PATH)
  }
  if (info?.isFile() === true) return [absolute]
  if (info === undefined && (await globbing()).isDynamicPattern(path)) {
    const found = await walk(path, cwd)
    return found.length > 0 ? found : problem('E_NOT_FOUND', `The glob ${path} matches no file.`, PATH)
  }
  if (info !== undefined) return problem('E_NOT_FOUND', `${path} is neither a file nor a folder.`, PATH)
  return problem('E_NOT_FOUND', `The file or folder ${path} does not exist.`, /^[\w-]+$/.test(path) ? PROJECT : PATH)
}

/** Loaded on demand, because loading takes a tenth of the time of `validate` and plain paths need no globbing. */
const globbing = () => import('tinyglobby')

const walk = async (pattern: string, cwd: string): Promise<string[]> =>
  (await globbing()).glob(pattern, {
    cwd,
    absolute: true,
    ignore: IGNORED,
    followSymbolicLinks: false,
    expandDirectories: false,
  })

/**
 * Whether a symlink (the file itself or a folder above it) leads out of the tree. If it were followed, the text of any
 * file could end up in a pull request comment. Paths that are explicitly outside the tree are allowed.
 */
export const leavesTree = async (file: string, root: string): Promise<boolean> => {
  if (!isInside(root, file) && !(await lstat(file)).isSymbolicLink()) return false
  return !isInside(await realpath(root), await realpath(file))
}

const PATH = 'Paths are relative to the current folder. Quote globs so that the shell does not expand them.'
/** Hint for an argument that looks like the name or id of a project. */
const PROJECT = 'Arguments are paths, relative to the current folder. To choose a project, use --project.'
