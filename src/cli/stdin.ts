import { text } from 'node:stream/consumers'
import { usageError } from './flags.ts'

/** How `-` is passed on to the commands: yargs takes a lone hyphen for an option without a name. */
export const STDIN = '<stdin>'

/**
 * What is piped in, where `-` was given.
 *
 * @throws {EspalierError} `E_USAGE` where other paths stand beside it, or nothing is piped.
 */
export const readStdin = async (paths: readonly string[]): Promise<string> => {
  if (paths.length > 1) throw usageError('- (stdin) stands alone: it cannot be read beside other manifests.')
  if (process.stdin.isTTY === true) throw usageError('- reads manifests from stdin, and nothing is piped into it.')
  return text(process.stdin)
}
