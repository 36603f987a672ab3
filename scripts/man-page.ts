/** Writes the descriptions of all commands, and the man page: `tsx scripts/man-page.ts DESCRIPTIONS.json MAN_PAGE`. */
import { writeFileSync } from 'node:fs'
import packageJson from '../package.json' with { type: 'json' }
import { EXIT, EXIT_WORDS } from '../src/base/index.ts'
import type { Description, Entry } from '../src/cli/command.ts'
import { COMMANDS } from '../src/cli/commands/index.ts'
import { allDescriptions } from '../src/cli/descriptions.ts'
import { API_ENVIRONMENT } from '../src/cli/help.ts'
import { COMMON_FLAGS, type Flag, type Flags, valueNameOf } from '../src/cli/setup/flags.ts'

/** Escapes text for roff: backslashes, dots and quotes at the start of a line, and non-ASCII characters. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
    .replaceAll(/[^\n -~]/gu, (char) => `\\[u${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`)

const bold = (text: string): string => `\\fB${roff(text)}\\fR`
const italic = (text: string): string => `\\fI${roff(text)}\\fR`

const verbatim = (text: string): readonly string[] => ['.PP', '.nf', roff(text), '.fi']

const flag = ([name, one]: readonly [string, Flag]): readonly string[] => {
  const { describe = '', alias, default: preset, array } = one
  const value = valueNameOf(one)
  const aliases = [alias ?? []].flat().map((short) => `${short.length === 1 ? '-' : '--'}${short}`)
  const names = [...aliases, `--${name}`].map(bold).join(', ')
  const notes = [
    ...(array === true ? ['Can be given several times.'] : []),
    ...(preset === undefined || preset === false ? [] : [`Default: ${String(preset)}.`]),
  ]
  const sentence = [describe.replace(/(?<![.)])$/, '.'), ...notes].join(' ')
  return ['.TP', value === undefined ? names : `${names} ${italic(value)}`, roff(sentence)]
}

const flags = (all: Flags): readonly string[] =>
  Object.entries(all)
    .filter(([, { hidden }]) => hidden !== true)
    .flatMap(flag)

const section = async (entry: Entry, before: string): Promise<readonly string[]> => {
  const command: Description = 'load' in entry ? await entry.load() : { ...entry, flags: {} }
  const line = `${before} ${entry.command}`
  const [name = ''] = line.split(/ [<[]/)
  return [
    `.SS ${bold(line)}`,
    roff(`${entry.summary}.`),
    ...Object.entries(command.positionals ?? {}).flatMap(([positional, { describe, choices = [] }]) => [
      '.TP',
      italic(positional),
      roff([`${describe}.`, ...(choices.length === 0 ? [] : [`One of: ${choices.join(', ')}.`])].join(' ')),
    ]),
    ...flags(command.flags),
    ...('load' in entry ? verbatim(command.notes) : []),
    ...command.examples.flatMap(([example, what]) => [
      '.TP',
      bold(example.replaceAll('$0', 'espalier')),
      roff(`${what}.`),
    ]),
    ...('load' in entry ? [] : await sections(entry.subcommands, name)),
  ]
}

const sections = async (entries: readonly Entry[], before: string): Promise<readonly string[]> =>
  (await Promise.all(entries.map((entry) => section(entry, before)))).flat()

const exitCodes = Object.entries(EXIT).flatMap(([name, code]) => [
  '.TP',
  bold(String(code)),
  roff(`${EXIT_WORDS[name as keyof typeof EXIT]}.`),
])

const { version, description, homepage } = packageJson
const page = [
  // The page contains no date, so that builds are reproducible.
  `.TH ESPALIER 1 "" "espalier ${version}" "User Commands"`,
  '.SH NAME',
  `espalier \\- ${roff(description)}`,
  '.SH SYNOPSIS',
  `${bold('espalier')} ${italic('command')} [${italic('paths')}...] [${italic('flags')}]`,
  '.SH COMMANDS',
  ...(await sections(COMMANDS, 'espalier')),
  '.SH FLAGS OF EVERY COMMAND',
  ...flags(COMMON_FLAGS),
  '.SH EXIT STATUS',
  ...exitCodes,
  '.SH ENVIRONMENT',
  ...verbatim(API_ENVIRONMENT),
  '.SH SEE ALSO',
  roff(homepage),
  '',
]
const [descriptions = 'dist/help/commands.json', to = 'dist/espalier.1'] = process.argv.slice(2)
writeFileSync(descriptions, JSON.stringify(await allDescriptions()))
writeFileSync(to, page.join('\n'))
