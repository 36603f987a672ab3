/** The manifests that a command line means. */
import { stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { type LoadedManifests, loadManifests, parseManifests, readSizeTable } from '../manifest/index.ts'
import { EspalierError, type SizeTable } from '../model/index.ts'
import { usageError } from './flags.ts'
import { STDIN } from './stdin.ts'

export const DEFAULT_PATHS = ['espalier.yaml', 'espalier.yml', 'espalier'] as const

export interface Manifests {
  readonly loaded: LoadedManifests
  readonly paths: readonly string[]
  readonly sizeTable?: SizeTable
}

/**
 * Reads what was asked for: files, directories and globs, `-` alone for stdin, and where nothing was named the first of
 * {@link DEFAULT_PATHS} that is there.
 *
 * @throws {EspalierError} where nothing was named and nothing is there, or a size table cannot be used.
 */
export const readManifests = async (given: readonly string[], sizeTablePath?: string): Promise<Manifests> => {
  const sizeTable = sizeTablePath === undefined ? undefined : await readSizeTable(sizeTablePath)
  const options = sizeTable === undefined ? {} : { sizeTable }
  const paths = given.length > 0 ? given : [await defaultPath()]
  if (!paths.includes(STDIN)) return { loaded: await loadManifests(paths, options), paths, ...options }
  if (paths.length > 1) throw usageError('- (stdin) stands alone: it cannot be read beside other manifests.')
  if (process.stdin.isTTY === true) throw usageError('- reads manifests from stdin, and nothing is piped into it.')
  return { loaded: parseManifests([{ path: STDIN, text: await text(process.stdin) }], options), paths, ...options }
}

const defaultPath = async (): Promise<string> => {
  for (const path of DEFAULT_PATHS) {
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined) return path
  }
  throw new EspalierError('E_NO_MANIFESTS', 'There is no espalier.yaml and no espalier/ here.', {
    hint: 'Name files, directories or globs: `espalier plan path/to/manifest.yaml`.',
  })
}
