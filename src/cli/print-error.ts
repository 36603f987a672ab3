/** Prints errors: mistakes of the user, and bugs in Espalier. */
import { EspalierError, EXIT, type ExitCode, plainText } from '../model/index.ts'
import type { Io } from './io.ts'
import { print } from './terminal.ts'

const REPORT_AT = 'the issue tracker of the project'

/** Prints to stderr and returns the exit code. A stack trace is shown for a bug only, and only with `--debug`. */
export const printError = (error: unknown, options: { color: boolean; debug: boolean }, io: Io): ExitCode => {
  const label = options.color ? '\u001b[1;31mError\u001b[0m' : 'Error'
  if (error instanceof EspalierError) {
    // With the code, for `espalier explain`.
    print(`${label}  ${error.code}: ${plainLines(error.message)}`, io.stderr)
    if (error.hint !== undefined) print(`       ${plainLines(error.hint)}`, io.stderr)
    return error.exitCode
  }
  const message = error instanceof Error ? error.message : String(error)
  print(`${label}  This is a bug in espalier: ${plainLines(message)}`, io.stderr)
  if (options.debug && error instanceof Error && error.stack !== undefined) print(plainLines(error.stack), io.stderr)
  const how = options.debug ? 'the lines above' : 'the output of the same command with --debug'
  print(`       Please report it at ${REPORT_AT}, with the command and ${how}.`, io.stderr)
  return EXIT.error
}

/** Messages may quote text of unknown origin. */
const plainLines = (text: string): string => text.split('\n').map(plainText).join('\n')
