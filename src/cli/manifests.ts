/** The manifests that a command line means: `-` alone is stdin. */
import { text } from 'node:stream/consumers'
import { parseManifests, readSizeTable } from '../manifest/index.ts'
import { type Manifests, readManifests as readFiles } from '../workflow/index.ts'
import { usageError } from './flags.ts'
import { STDIN } from './stdin.ts'

/**
 * Reads what was asked for: files, directories and globs, `-` alone for stdin, and where nothing was named the manifests
 * that are here by their usual names.
 *
 * @throws {EspalierError} where nothing was named and nothing is there, or a size table cannot be used.
 */
export const readManifests = async (given: readonly string[], sizeTablePath?: string): Promise<Manifests> => {
  if (!given.includes(STDIN)) return readFiles(given, { sizeTablePath })
  if (given.length > 1) throw usageError('- (stdin) stands alone: it cannot be read beside other manifests.')
  if (process.stdin.isTTY === true) throw usageError('- reads manifests from stdin, and nothing is piped into it.')
  const options = sizeTablePath === undefined ? {} : { sizeTable: await readSizeTable(sizeTablePath) }
  return {
    loaded: parseManifests([{ path: STDIN, text: await text(process.stdin) }], options),
    paths: given,
    ...options,
  }
}
