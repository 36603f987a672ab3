import { readBounded } from '../base/index.ts'
import { MAX_FILE_BYTES } from '../manifest/index.ts'
import { EspalierError } from '../model/index.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'

/**
 * Reads stdin, which `-` stands for.
 *
 * @throws {EspalierError} `E_USAGE` if there are other paths or stdin is a terminal, `E_TOO_LARGE` if it is too large.
 */
export const readStdin = async (paths: readonly string[], { stdin }: Io): Promise<string> => {
  if (paths.length > 1) throw usageError('- (stdin) cannot be combined with other paths.')
  if (stdin.isTTY === true) throw usageError('- reads manifests from stdin, but nothing is piped in.')
  return readBounded(stdin, MAX_FILE_BYTES).catch((cause: Error) => {
    throw new EspalierError('E_TOO_LARGE', `The manifest on stdin cannot be read: ${cause.message}.`, {
      hint: 'Put each project in a separate file.',
      cause,
    })
  })
}
