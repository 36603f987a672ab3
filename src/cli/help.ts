/** Renders the help with yargs, using the table of commands. */
import yargs, { type Argv, type Options } from 'yargs'
import { defined, EXIT, EXIT_WORDS } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import type { Description, Entry } from './command.ts'
import { below } from './command-line.ts'
import { COMMANDS } from './commands/index.ts'
import { descriptionOf, isLeaf } from './descriptions.ts'
import { COMMON_FLAGS, COMMON_GROUP, CONNECTION_FLAGS, type Flag, valueNameOf } from './setup/flags.ts'
import type { Io } from './setup/io.ts'
import { print, styleOf } from './terminal/terminal.ts'

/** For all commands that connect to the control API. */
export const API_ENVIRONMENT = `Environment:
  ESPALIER_API_KEY   the API key (default: the value of NEON_API_KEY)
  ESPALIER_BASE_URL  base URL of the control API
  NO_COLOR           disables colours
  FORCE_COLOR        set to 1 to colour piped output`

const NOTES = `Exit codes:
${Object.entries(EXIT)
  .map(([name, code]) => `  ${String(code).padEnd(4)}${EXIT_WORDS[name as keyof typeof EXIT]}`)
  .join('\n')}

Every command has its own --help with examples. --help all also shows the common flags.`

const HELP = new Set(['--help', '-h'])

/** @param words the command line, which contains `--help` or `--version`. */
export const printHelp = async (words: readonly string[], io: Io): Promise<void> => {
  const isAll = (at: number): boolean => words[at] === 'all' && HELP.has(words[at - 1] ?? '')
  const showsAll = words.some((_, at) => isAll(at))
  const program = yargs([])
    .scriptName('espalier')
    .usage(
      '$0 <command>\n\nDeclare the Postgres computes of your database branches in YAML; review, plan and apply them safely.',
    )
    .locale('en')
    .parserConfiguration({ 'boolean-negation': false })
    .wrap(Math.min(styleOf(io.stdout, {}, io.env).width, 110))
    .version(VERSION)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .example([
      ['$0 validate', 'Check the manifests, without network access or a key'],
      ['$0 plan', 'Show what would change, and what would restart'],
      ['$0 apply', 'Show the plan, ask for confirmation, and apply it'],
    ])
    .epilogue(NOTES)
  // If yargs is given a callback, it passes the text of the help to it instead of printing the text.
  await COMMANDS.reduce((argv, entry) => add(argv, entry, showsAll), program).parseAsync(
    words.filter((_, at) => !isAll(at)),
    {},
    (_error, _argv, output) => print(output, io.stdout),
  )
}

const add = (argv: Argv, entry: Entry, showsAll: boolean): Argv =>
  argv.command({
    command: entry.command,
    describe: entry.summary,
    builder: (inner) => describe(inner, entry, showsAll),
    handler: () => undefined,
  })

const describe = async (argv: Argv, entry: Entry, showsAll: boolean): Promise<Argv> => {
  const command: Description = isLeaf(entry) ? await descriptionOf(entry) : { ...entry, flags: {} }
  for (const [name, positional] of Object.entries(command.positionals ?? {})) {
    // Without this default, yargs would print `[default: []]` for an array.
    argv.positional(name, { type: 'string', default: undefined, ...positional })
  }
  for (const subcommand of below(entry)) add(argv, subcommand, showsAll)
  const all = Object.entries({ ...command.flags, ...(isLeaf(entry) ? COMMON_FLAGS : {}) })
  const isCommon = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(COMMON, name)
  const common = all.filter(isCommon)
  const shown = [...all.filter((flag) => !isCommon(flag)), ...(showsAll ? common : [])]
  // Without a group of its own, a flag would be listed last, below the common flags.
  argv.options(Object.fromEntries(shown.map(described)))
  argv.example(command.examples.map(([line, what]): [string, string] => [line, what]))
  if (showsAll || common.length === 0) {
    const usesApi = common.some(([name]) => name === 'api-key-file')
    return argv
      .group(['help', 'version'], COMMON_GROUP)
      .epilogue(usesApi ? `${command.notes}\n\n${API_ENVIRONMENT}` : command.notes)
  }
  const names = common.map(([name]) => `--${name}`).join(', ')
  return argv
    .hide('help')
    .hide('version')
    .epilogue(`${command.notes}\n\nCommon flags, explained by --help all: ${names}`)
}

/** A flag with the name of its value in place of its type. The choices are named below it, because they can be long. */
const described = ([name, flag]: readonly [string, Flag]): readonly [string, Options] => {
  const { describe, alias, choices, default: preset, demandOption = false } = flag
  const value = choices === undefined ? valueNameOf(flag) : undefined
  return [
    value === undefined ? name : `${name} ${value}`,
    { group: flag.group || 'Flags:', demandOption, ...defined({ describe, alias, choices, default: preset }) },
  ]
}

const COMMON = { ...CONNECTION_FLAGS, ...COMMON_FLAGS }
