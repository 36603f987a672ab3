import { readBounded } from '../base/index.ts'
import { MAX_FILE_BYTES } from '../manifest/index.ts'
import { EspalierError } from '../model/index.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'

export { STDIN } from './command.ts'

/**
 * What is piped in, where `-` was given.
 *
 * @throws {EspalierError} `E_USAGE` if other paths are next to it, or nothing is piped; `E_TOO_LARGE`, since nobody
 *   knows when it ends.
 */
export const readStdin = async (paths: readonly string[], { stdin }: Io): Promise<string> => {
  if (paths.length > 1) throw usageError('- (stdin) cannot be combined with other paths.')
  if (stdin.isTTY === true) throw usageError('- reads manifests from stdin, and nothing is piped into it.')
  return readBounded(stdin, MAX_FILE_BYTES).catch((cause: Error) => {
    throw new EspalierError('E_TOO_LARGE', `The manifest on stdin cannot be read: ${cause.message}.`, {
      hint: 'Put each project in a separate file.',
      cause,
    })
  })
}
