/**
 * Completion, and a check of files named one by one without flags, need no parser of command lines: in a profile of
 * `validate` a quarter of the time went into loading one.
 */
import { EXIT, type ExitCode, plainText } from '../model/index.ts'
import type { Io } from './io.ts'
import { printError } from './print-error.ts'
import { print, styleOf } from './terminal.ts'

/** `undefined` for any other command line, which is not a word of it run. */
export const runPlain = async ([command, ...paths]: readonly string[], io: Io): Promise<ExitCode | undefined> => {
  if (command === '__complete') {
    const { complete } = await import('./completion/complete.ts')
    for (const { word, about = '' } of await complete(paths, io)) {
      print(about === '' ? word : `${word}\t${plainText(about)}`, io.stdout)
    }
    return EXIT.ok
  }
  if (command !== 'validate' || paths.some((path) => path.startsWith('-'))) return undefined
  try {
    const { runValidate } = await import('./runs/validate.ts')
    return await runValidate({ paths, format: 'terminal' }, io)
  } catch (error) {
    return printError(error, { color: styleOf(io.stderr, {}, io.env).color, debug: false }, io)
  }
}
