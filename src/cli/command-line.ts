/** Parses a command line. It has its own error messages, because those of Node do not suggest the nearest valid name. */
import { parseArgs } from 'node:util'
import { nearest } from '../base/index.ts'
import { parseDuration } from '../model/index.ts'
import { type Command, type Entry, type Invocation, STDIN } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { allDescriptions, isLeaf, nameOf } from './descriptions.ts'
import { COMMON_FLAGS, type Flag, type Flags, usageError } from './setup/flags.ts'

export interface CommandLine {
  readonly command: Command
  /** The values of flags and positionals by name. Flags are also found by their name in camel case. */
  readonly values: Readonly<Record<string, unknown>> & { readonly invocation: Invocation }
}

export interface Path {
  /** The name of the command, followed by the name of its subcommand if there is one. */
  readonly names: readonly string[]
  readonly entry?: Entry
}

/** Finds the command and subcommand that `words` name. */
export const pathOf = (words: readonly string[]): Path => {
  const names: string[] = []
  let entry: Entry | undefined
  for (const word of words) {
    const next = below(entry).find((one) => nameOf(one) === word)
    if (next === undefined) continue
    entry = next
    names.push(word)
  }
  return { names, ...(entry === undefined ? {} : { entry }) }
}

export const below = (entry: Entry | undefined): readonly Entry[] => {
  if (entry === undefined) return COMMANDS
  return 'subcommands' in entry ? entry.subcommands : []
}

/** @throws {EspalierError} `E_USAGE` */
export const readCommandLine = async (words: readonly string[]): Promise<CommandLine> => {
  const path = pathOf(words)
  const { entry } = path
  const hint = `Run \`${['espalier', ...path.names].join(' ')} --help\` for the commands and flags.`
  const mistake = (message: string): Error => usageError(message, hint)
  if (entry === undefined || !isLeaf(entry)) throw mistake(await noCommand(words, path))
  const rest = path.names.reduce<readonly string[]>((left, name) => left.toSpliced(left.indexOf(name), 1), words)
  const command = await entry.load()
  const flags: Flags = { ...command.flags, ...COMMON_FLAGS }
  const { found, given } = await readFlags(
    rest.map((word) => (word === '-' ? STDIN : word)),
    flags,
    path,
    mistake,
  )
  const values: Record<string, unknown> = {}
  for (const [name, flag] of Object.entries(flags)) {
    const texts = found.get(name) ?? (flag.default === undefined ? [] : [String(flag.default)])
    if (texts.length === 0 && flag.demandOption === true) throw mistake(`--${name} is required.`)
    if (texts.length === 0) continue
    const value = flag.array === true ? texts : typed(flag, texts[0])
    const problem = numberProblem(name, flag, value)
    if (problem !== undefined) throw mistake(problem)
    values[name] = value
    values[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = value
  }
  const positionals = readPositionals(entry, command, given)
  if (typeof positionals === 'string') {
    const value = found.get('sandbox')?.[0] === '' ? words[words.indexOf('--sandbox=') + 1] : undefined
    throw value !== undefined && positionals.endsWith(`: ${value}`)
      ? usageError(positionals, `If ${value} is the sandbox's folder or seed, write: --sandbox=${value}`)
      : mistake(positionals)
  }
  const all = { ...values, ...positionals }
  return { command, values: { ...all, invocation: { name: path.names.join(' '), flags, values: all } } }
}

const noCommand = async (words: readonly string[], { names, entry }: Path): Promise<string> => {
  const isCommon = (word: string): boolean => Object.hasOwn(COMMON_FLAGS, word.replace(/^--/, ''))
  const last = names.at(-1)
  const word = words.slice(last === undefined ? 0 : words.indexOf(last) + 1).find((one) => !isCommon(one)) ?? ''
  if (word.startsWith('-')) {
    return entry === undefined ? noFlag(word, {}, 'espalier') : `${entry.command} needs a subcommand.`
  }
  const near = nearest(word, below(entry).map(nameOf))
  return `There is no command ${word}${near === undefined ? '.' : `: did you mean ${near}?`}`
}

const noFlag = async (word: string, flags: Flags, own: string): Promise<string> => {
  const flag = word.replace(/=.*$/s, '')
  const name = flag.replace(/^--?/, '')
  // A flag that another command has is not treated as a spelling mistake.
  const others = Object.values(await allDescriptions())
  const isOthers = flags[name] === undefined && others.some((command) => command.flags[name] !== undefined)
  if (isOthers) return `${own} has no flag ${flag}.`
  const known = Object.entries({ ...flags, ...COMMON_FLAGS }).flatMap(([one, { alias = [] }]: [string, Flag]) => [
    one,
    ...[alias].flat(),
  ])
  const near = name.toLowerCase() === 'v' ? 'version' : nearest(name, [...known, 'help', 'version'])
  return `There is no flag ${flag}${near === undefined ? '.' : `: did you mean --${near}?`}`
}

/** The flags by the word that users type: `--name` or `-n`. */
export const flagsByWord = (flags: Flags) =>
  new Map(
    Object.entries(flags).flatMap(([name, flag]) =>
      [name, ...[flag.alias ?? []].flat()].map((one) => [one.length === 1 ? `-${one}` : `--${one}`, { name, flag }]),
    ) as [string, { readonly name: string; readonly flag: Flag }][],
  )

/** The texts given for each flag, and the words that belong to no flag. @throws {EspalierError} `E_USAGE` */
const readFlags = async (
  words: readonly string[],
  flags: Flags,
  { names }: Path,
  mistake: (message: string) => Error,
): Promise<{ readonly found: ReadonlyMap<string, readonly string[]>; readonly given: readonly string[] }> => {
  const byWord = flagsByWord(flags)
  const options = [...byWord].map(([word, { flag }]) => {
    const name = word.replace(/^--?/, '')
    const type = flag.type === 'boolean' ? ('boolean' as const) : ('string' as const)
    return [name, { type, ...(name.length === 1 ? { short: name } : {}) }] as const
  })
  const { tokens } = parseArgs({ args: [...words], options: Object.fromEntries(options), strict: false, tokens: true })
  const found = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const [written = '', ...inline] = (words[token.index] ?? '').split('=')
    const known = byWord.get(written)
    if (known === undefined) throw mistake(await noFlag(written, flags, names.join(' ')))
    const { name, flag } = known
    if (found.has(name) && flag.array !== true) throw mistake(`--${name} is given more than once.`)
    const value = inline.length > 0 ? inline.join('=') : (token.value ?? (flag.type === 'boolean' ? 'true' : ''))
    const problem = valueProblem(written, flag, value, inline.length === 0 && /^-[^\d]/.test(value))
    if (problem !== undefined) throw mistake(problem)
    found.set(name, [...(found.get(name) ?? []), value])
  }
  return { found, given: tokens.flatMap((token) => (token.kind === 'positional' ? token.value : [])) }
}

/** @param isFlag whether the value looks like the next flag. */
const valueProblem = (written: string, flag: Flag, value: string, isFlag: boolean): string | undefined => {
  if (flag.requiresArg === true && (value === '' || isFlag)) return `${written} needs a value.`
  if (flag.choices?.includes(value) === false) {
    return `${written} cannot be ${value}: it must be one of ${flag.choices.join(', ')}.`
  }
  if (flag.isDuration !== true || msOf(value) > 0) return undefined
  return `${written} ${value} is not a valid duration. Write, for example, 90s, 10m or 1h30m.`
}

const typed = ({ type, isDuration }: Flag, text = ''): unknown => {
  if (type === 'boolean') return text === 'true'
  if (isDuration === true) return msOf(text)
  return type === 'number' ? Number(text) : text
}

/** The duration in milliseconds, or 0 if it is not valid. */
const msOf = (text = ''): number => 1_000 * (parseDuration(text) ?? 0)

const numberProblem = (name: string, flag: Flag, value: unknown): string | undefined => {
  const { min = 0, max, isFractional = false } = flag
  if (typeof value !== 'number') return undefined
  const isInRange = value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)
  if (isInRange && (isFractional || Number.isInteger(value))) return undefined
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  return `--${name} must be a ${isFractional ? 'number' : 'whole number'} ${range}.`
}

/** The values of positionals (`<one>`, `[one]`, `[many..]`) by name, or an error message. */
const readPositionals = (
  { command }: Entry,
  { positionals }: Command,
  given: readonly string[],
): Readonly<Record<string, unknown>> | string => {
  const places = [...command.matchAll(/([<[])(\w+)(\.\.)?[>\]]/g)]
  const values: Record<string, unknown> = {}
  let left = given
  for (const [place, bracket, name = '', dots] of places) {
    const own = dots === undefined ? left.slice(0, 1) : left
    left = left.slice(own.length)
    if (bracket === '<' && own.length === 0) return `Missing argument: ${place}.`
    const { choices } = positionals?.[name] ?? {}
    const other = own.find((word) => choices?.includes(word) === false)
    if (other !== undefined) return `${name} cannot be ${other}: it must be one of ${choices?.join(', ')}.`
    values[name] = dots === undefined ? own[0] : own
  }
  return left[0] === undefined ? values : `Unexpected argument: ${left[0]}`
}
