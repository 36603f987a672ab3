/** The command line, from words to an exit code. */
import yargs, { type Argv, type Options } from 'yargs'
import { nearest } from '../base/index.ts'
import { EspalierError, EXIT, type ExitCode } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { EXIT_WORDS } from './exit-words.ts'
import { COMMON_FLAGS, usageError } from './flags.ts'
import type { Io } from './io.ts'
import { printError } from './print-error.ts'
import { STDIN } from './stdin.ts'
import { print, styleOf } from './terminal.ts'

const NOTES = `Exit codes:
${Object.entries(EXIT)
  .map(([name, code]) => `  ${String(code).padEnd(4)}${EXIT_WORDS[name as keyof typeof EXIT]}`)
  .join('\n')}

Every command has its own --help with examples.`

/** Runs one command line (without node and the program's name). Never throws. */
export const runProgram = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  const words = withHelp(withOptionalValues(args))
  let exitCode: ExitCode = EXIT.ok
  const program = build(io, (code) => {
    exitCode = code
  })
  try {
    // Given a function, yargs hands over the text of a help instead of printing it.
    await program.parseAsync(
      words.map((word) => (word === '-' ? STDIN : word)),
      {},
      (_error, _argv, output) => print(output, io.stdout),
    )
    return exitCode
  } catch (error) {
    const flags = { noColor: args.includes('--no-color') }
    const { color } = styleOf(io.stderr, flags, io.env)
    return printError(
      isUsage(error) ? explain(error.message, words) : error,
      {
        color,
        debug: args.includes('--debug'),
      },
      io,
    )
  }
}

/** `--sandbox` takes a value only after `=`, so that it never swallows the path that follows it. */
const withOptionalValues = (args: readonly string[]): string[] => {
  const end = args.indexOf('--')
  return args.map((word, index) => (word === '--sandbox' && (end < 0 || index < end) ? '--sandbox=' : word))
}

/** Alone, the program or a group of commands has only its help to show. */
const withHelp = (words: readonly string[]): readonly string[] => {
  const names = words.filter((word) => !Object.keys(COMMON_FLAGS).includes(word.replace(/^--/, '')))
  const { path, command } = commandOf(names)
  const isGroup = names.length === 0 || command?.subcommands !== undefined
  return isGroup && names.length === path.length ? [...words, '--help'] : words
}

const build = (io: Io, done: (code: ExitCode) => void): Argv => {
  const program = yargs([])
    .scriptName('espalier')
    .usage(
      '$0 <command>\n\nDeclare the Postgres computes of your database branches in YAML; review, plan and apply them safely.',
    )
    .locale('en')
    .parserConfiguration({ 'boolean-negation': false, 'greedy-arrays': false, 'parse-positional-numbers': false })
    .wrap(Math.min(styleOf(io.stdout, {}, io.env).width, 110))
    .version(VERSION)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? usageError(message)
    })
    .strict()
    .example([
      ['$0 validate', 'Check the manifests: no network, no key'],
      ['$0 plan', 'Show what would change, and what that restarts'],
      ['$0 apply', 'Ask, then make it so'],
    ])
    .epilogue(NOTES)
  withoutHelpInReserve(program)
  return COMMANDS.reduce((argv, command) => add(argv, command, io, done), program)
}

/**
 * Before it runs a command, yargs lays out that command's whole help, in case it should fail and have to show it. Ours
 * fails in words of its own, and a seventh of the time of `validate` went into that.
 */
const withoutHelpInReserve = (program: Argv): void => {
  const { getInternalMethods } = program as unknown as {
    getInternalMethods?: () => { getUsageInstance?: () => { cacheHelpMessage?: () => void } }
  }
  const usage = getInternalMethods?.call(program).getUsageInstance?.()
  if (usage?.cacheHelpMessage !== undefined) usage.cacheHelpMessage = () => undefined
}

const add = (argv: Argv, command: Command, io: Io, done: (code: ExitCode) => void): Argv =>
  argv.command({
    command: command.command,
    aliases: command.aliases ?? [],
    describe: command.summary,
    builder: (inner) => describe(inner, command, io, done),
    handler: async (values) => {
      if (command.run === undefined) return
      checkRepeats(values, command)
      done(await command.run(values, io))
    },
  })

const describe = (argv: Argv, command: Command, io: Io, done: (code: ExitCode) => void): Argv => {
  for (const [name, positional] of Object.entries(command.positionals ?? {})) {
    argv.positional(name, { type: 'string', ...positional })
  }
  for (const subcommand of command.subcommands ?? []) add(argv, subcommand, io, done)
  if (command.subcommands !== undefined) argv.demandCommand(1, `Which command of ${command.command}?`)
  return argv
    .options({ ...command.flags, ...(command.run === undefined ? {} : COMMON_FLAGS) })
    .example(command.examples.map(([line, what]): [string, string] => [line, what]))
    .epilogue(command.notes)
}

const checkRepeats = (values: Readonly<Record<string, unknown>>, command: Command): void => {
  for (const [name, flag] of Object.entries<Options>({ ...command.flags, ...COMMON_FLAGS })) {
    if (Array.isArray(values[name]) && flag.array !== true) {
      throw usageError(`--${name} was given more than once.`)
    }
  }
}

/** What yargs says about a wrong command line: its own class is not exported, and some messages come without an error. */
const isUsage = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.name === 'YError' || (error instanceof EspalierError && error.code === 'E_USAGE' && error.hint === undefined))

/** A wrong command line in our words, with the nearest right one. */
const explain = (message: string, words: readonly string[]): Error => {
  const { path, command } = commandOf(words)
  const hint = `Run \`${['espalier', ...path].join(' ')} --help\` to see what there is.`
  const unknown = /^Unknown (?:argument|command)s?: (.*)$/s.exec(message)?.[1]
  if (unknown === undefined) return usageError(inWords(message), hint)
  const name = [...new Set(unknown.split(', ').map(kebab))][0] ?? unknown
  const flag = words
    .map((word) => word.replace(/=.*$/s, ''))
    .find((word) => word === `-${name}` || word === `--${name}`)
  if (flag !== undefined) {
    const near = name.toLowerCase() === 'v' ? 'version' : nearest(name, flagNames(command))
    return usageError(`There is no flag ${flag}${near === undefined ? '.' : `: did you mean --${near}?`}`, hint)
  }
  const known = (command === undefined ? COMMANDS : (command.subcommands ?? [])).flatMap(namesOf)
  if (known.length === 0) return usageError(`One argument too many: ${unknown}`, hint)
  const near = nearest(name, known)
  return usageError(`There is no command ${name}${near === undefined ? '.' : `: did you mean ${near}?`}`, hint)
}

const inWords = (message: string): string => {
  const missing = /^Not enough arguments following: (.*)$/.exec(message)?.[1]
  if (missing !== undefined) return `--${missing} needs a value.`
  if (message.startsWith('Not enough non-option arguments')) return 'An argument is missing.'
  const choice = /Argument: ([\w-]+), Given: (.*), Choices: (.*)$/s.exec(message)
  if (choice !== null) return `${choice[1]} cannot be ${choice[2]}: it takes ${choice[3]}.`
  return message.replace(/\s*\n\s*/g, ' ').trim()
}

const kebab = (name: string): string =>
  name.length === 1 ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const namesOf = (command: Command): readonly string[] => [
  command.command.split(' ')[0] ?? '',
  ...(command.aliases ?? []),
]

const commandOf = (words: readonly string[]): { readonly path: readonly string[]; readonly command?: Command } => {
  const path: string[] = []
  let command: Command | undefined
  for (const word of words) {
    const next = (command === undefined ? COMMANDS : (command.subcommands ?? [])).find((one) =>
      namesOf(one).includes(word),
    )
    if (next === undefined) continue
    command = next
    path.push(word)
  }
  return { path, ...(command === undefined ? {} : { command }) }
}

const flagNames = (command: Command | undefined): readonly string[] => [
  ...Object.entries<Options>({ ...command?.flags, ...COMMON_FLAGS }).flatMap(([name, flag]) => [
    name,
    ...[flag.alias ?? []].flat(),
  ]),
  'help',
  'version',
]
