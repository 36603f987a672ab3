/**
 * A check of files named one by one, with no flag at all, needs no parser of command lines: in a profile of `validate` a
 * quarter of the time went into loading one.
 */
import type { ExitCode } from '../model/index.ts'
import type { Io } from './io.ts'
import { printError } from './print-error.ts'
import { styleOf } from './terminal.ts'

/** `undefined` for any other command line, which is not a word of it run. */
export const runPlain = async ([command, ...paths]: readonly string[], io: Io): Promise<ExitCode | undefined> => {
  if (command !== 'validate' || paths.some((path) => path.startsWith('-'))) return undefined
  try {
    const { runValidate } = await import('./runs/validate.ts')
    return await runValidate({ paths, format: 'terminal' }, io)
  } catch (error) {
    return printError(error, { color: styleOf(io.stderr, {}, io.env).color, debug: false }, io)
  }
}
