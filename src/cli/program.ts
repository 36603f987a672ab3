/** Runs a command line. */
import { EXIT, type ExitCode, plainText } from '../base/index.ts'
import type { Invocation } from './command.ts'
import { below, pathOf, readCommandLine } from './command-line.ts'
import { COMMON_FLAGS } from './setup/flags.ts'
import type { Io } from './setup/io.ts'
import { printError } from './terminal/print-error.ts'
import { print, styleOf } from './terminal/terminal.ts'

/** Never throws. @param args the arguments, without node and the name of the program. */
export const runProgram = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  let invocation: Invocation | undefined
  try {
    if (args[0] === '__complete') return await printCompletions(args.slice(1), io)
    const words = withHelp(withOptionalValues(args))
    if (asksForHelp(words)) {
      await (await import('./help.ts')).printHelp(words, io)
      return EXIT.ok
    }
    const { command, values } = await readCommandLine(words)
    const { apiKeyFile } = values
    if (typeof apiKeyFile === 'string') {
      const { rejectKeyAsPath } = await import('./setup/key.ts')
      rejectKeyAsPath(apiKeyFile, io.locate)
    }
    invocation = values.invocation
    return await command.run(values, io)
  } catch (error) {
    const { color } = styleOf(io.stderr, { noColor: args.includes('--no-color') }, io.env)
    return printError(error, { color, debug: args.includes('--debug'), invocation }, io)
  }
}

/** `--sandbox` accepts a value only after `=`. Otherwise a path that follows it would be used as its value. */
const withOptionalValues = (args: readonly string[]): readonly string[] => {
  const end = args.indexOf('--')
  return args.map((word, index) => (word === '--sandbox' && (end < 0 || index < end) ? '--sandbox=' : word))
}

/** Adds `--help` if the program, or a group of commands, is called without further arguments. */
const withHelp = (words: readonly string[]): readonly string[] => {
  const names = words.filter((word) => !Object.keys(COMMON_FLAGS).includes(word.replace(/^--/, '')))
  const path = pathOf(names)
  const isGroup = names.length === 0 || below(path.entry).length > 0
  return isGroup && names.length === path.names.length ? [...words, '--help'] : words
}

const asksForHelp = (words: readonly string[]): boolean => {
  const end = words.indexOf('--')
  const before = end < 0 ? words : words.slice(0, end)
  return ['--help', '-h', '--version'].some((word) => before.includes(word))
}

/** Prints completions for the completion scripts. Each line contains a word and its description. */
const printCompletions = async (words: readonly string[], io: Io): Promise<ExitCode> => {
  const { complete } = await import('./completion/complete.ts')
  for (const { word, about = '' } of await complete(words, io)) {
    print(about === '' ? word : `${word}\t${plainText(about)}`, io.stdout)
  }
  return EXIT.ok
}
