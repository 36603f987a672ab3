/** Arguments for suggested commands. They select the same manifests, projects and service as this run. */
import { DEFAULT_PATHS } from '../../workflow/index.ts'
import { STDIN } from '../command.ts'
import type { ApiFlags, SelectionFlags } from './flags.ts'

type Flags = ApiFlags & SelectionFlags

/** ` espalier/ --project shop`, which can be appended to a command. Empty if there are no paths or flags. */
export const sameArguments = (paths: readonly string[], flags: Flags): string =>
  appended([...pathArguments(paths), ...selectionArguments(flags), ...connectionArguments(flags)])

/** ` espalier/ shop.yaml`, for a command that needs no connection. */
export const samePaths = (paths: readonly string[]): string => appended(pathArguments(paths))

/** The flags for the connection only. A saved plan contains everything else. */
export const sameConnection = (flags: ApiFlags): string => appended(connectionArguments(flags))

const appended = (words: readonly string[]): string => words.map((word) => ` ${quoted(word)}`).join('')

const pathArguments = (paths: readonly string[]): readonly string[] =>
  paths.length === 1 && DEFAULT_PATHS.some((path) => path === paths[0])
    ? []
    : paths.map((path) => (path === STDIN ? '-' : path))

const selectionArguments = ({ project = [], branch = [], wave }: Flags): readonly string[] => [
  ...project.flatMap((glob) => ['--project', glob]),
  ...branch.flatMap((glob) => ['--branch', glob]),
  ...(wave === undefined ? [] : ['--wave', wave]),
]

const connectionArguments = ({ baseUrl, apiKeyFile, sandbox }: ApiFlags): readonly string[] => [
  ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ...(apiKeyFile === undefined ? [] : ['--api-key-file', apiKeyFile]),
  ...(sandbox === undefined ? [] : [sandbox === '' ? '--sandbox' : `--sandbox=${sandbox}`]),
]

/** Quotes a word for a POSIX shell. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
