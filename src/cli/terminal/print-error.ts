/** Prints errors, which are either mistakes of the user or bugs in Espalier. */
import { EspalierError, EXIT, type ExitCode, plainText } from '../../base/index.ts'
import type { Invocation } from '../command.ts'
import type { Io } from '../setup/io.ts'
import { completeCommands } from '../setup/suggested-commands.ts'
import { print } from './terminal.ts'

const REPORT_AT = 'the issue tracker of the project'

/** Prints an error and returns the exit code. Stack traces are shown for bugs only, and only with `--debug`. */
export const printError = (
  error: unknown,
  options: { color: boolean; debug: boolean; invocation?: Invocation | undefined },
  io: Io,
): ExitCode => {
  const label = options.color ? '\u001b[31merror\u001b[39m' : 'error'
  const hintLabel = options.color ? '\u001b[36mhint\u001b[39m' : 'hint'
  if (error instanceof EspalierError) {
    // The code is shown so that users can pass it to `espalier explain`.
    const shown = (text: string): string => completeCommands(plainLines(text), options.invocation)
    print(`${label}  ${error.code}  ${shown(error.message)}`, io.stderr)
    if (error.hint !== undefined) print(`  ${hintLabel}: ${shown(error.hint)}`, io.stderr)
    return error.exitCode
  }
  const message = error instanceof Error ? error.message : String(error)
  print(`${label}  This is a bug in espalier: ${plainLines(message)}`, io.stderr)
  if (options.debug && error instanceof Error && error.stack !== undefined) print(plainLines(error.stack), io.stderr)
  const how = options.debug ? 'the lines above' : 'the output of the same command with --debug'
  print(`  ${hintLabel}: Please report it at ${REPORT_AT}, with the command and ${how}.`, io.stderr)
  return EXIT.error
}

/** Escapes each line, because a message may quote text from an untrusted source. */
const plainLines = (text: string): string => text.split('\n').map(plainText).join('\n')
