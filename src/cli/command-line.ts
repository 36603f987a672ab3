/** Parses a command line by the table of commands. Messages are our own, and suggest the nearest valid name. */
import { parseArgs } from 'node:util'
import { nearest } from '../base/index.ts'
import { parseDuration } from '../model/index.ts'
import { type Command, type Runnable, STDIN } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import type { Flag, Flags } from './flag.ts'
import { COMMON_FLAGS, usageError } from './flags.ts'

export interface CommandLine {
  readonly command: Runnable
  /** Flags and positionals by name, flags in camel case too. */
  readonly values: Readonly<Record<string, unknown>>
}

export interface Path {
  /** The name of the command, and of its subcommand. */
  readonly names: readonly string[]
  readonly command?: Runnable
}

/** The command and subcommand named in `words`. */
export const pathOf = (words: readonly string[]): Path => {
  const names: string[] = []
  let command: Runnable | undefined
  for (const word of words) {
    const next = (command === undefined ? COMMANDS : (command.subcommands ?? [])).find((one) =>
      namesOf(one).includes(word),
    )
    if (next === undefined) continue
    command = next
    names.push(word)
  }
  return { names, ...(command === undefined ? {} : { command }) }
}

/** @throws {EspalierError} `E_USAGE` */
export const readCommandLine = (words: readonly string[]): CommandLine => {
  const path = pathOf(words)
  const { command } = path
  const hint = `Run \`${['espalier', ...path.names].join(' ')} --help\` for the commands and flags.`
  const mistake = (message: string): Error => usageError(message, hint)
  if (command?.run === undefined) throw mistake(noCommand(words, path))
  const rest = path.names.reduce<readonly string[]>((left, name) => left.toSpliced(left.indexOf(name), 1), words)
  const flags: Flags = { ...command.flags, ...COMMON_FLAGS }
  const values = new Map<string, unknown>(
    Object.entries(flags).flatMap(([name, flag]) =>
      flag.default === undefined ? [] : [[name, typedValue(String(flag.default), flag)]],
    ),
  )
  const given: string[] = []
  const seen = new Set<string>()
  const byWord = flagsByWord(flags)
  for (const token of tokensOf(rest, flags)) {
    if (token.kind === 'positional') given.push(token.value === '-' ? STDIN : token.value)
    if (token.kind !== 'option') continue
    const known = byWord.get(token.rawName)
    if (known === undefined) throw mistake(noFlag(rest[token.index] ?? '', flags, path.names.join(' ')))
    const { name, flag } = known
    if (seen.has(name) && flag.array !== true) throw mistake(`--${name} is given more than once.`)
    // `-o=json` is as common as `-o json`.
    const text = token.rawName.length === 2 ? token.value?.replace(/^=/, '') : token.value
    const problem = valueProblem({ ...token, value: text }, flag)
    if (problem !== undefined) throw mistake(problem)
    const value = typedValue(text, flag)
    const before = seen.has(name) ? values.get(name) : []
    values.set(name, flag.array === true && Array.isArray(before) ? [...before, value] : value)
    seen.add(name)
  }
  const required = Object.keys(flags).find((name) => flags[name]?.demandOption === true && !values.has(name))
  if (required !== undefined) throw mistake(`--${required} is required.`)
  const positionals = readPositionals(command, given)
  if (typeof positionals === 'string') throw mistake(positionals)
  return {
    command,
    values: { ...Object.fromEntries([...values].map(([name, value]) => [camelCase(name), value])), ...positionals },
  }
}

const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

interface Option {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** Not strict: the parser's own messages do not suggest the nearest name. */
const tokensOf = (words: readonly string[], flags: Flags) =>
  parseArgs({
    args: [...words],
    options: Object.fromEntries(
      [...flagsByWord(flags)].map(([word, { flag }]) => {
        const type = flag.type === 'boolean' ? 'boolean' : 'string'
        return [word.replace(/^--?/, ''), word.startsWith('--') ? { type } : { type, short: word.slice(1) }]
      }),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  }).tokens

const typedValue = (value: string | undefined, { type, isDuration }: Flag): unknown => {
  if (isDuration === true) return 1_000 * (parseDuration(value ?? '') ?? 0)
  if (type === 'boolean') return value !== 'false'
  return type === 'number' ? Number(value) : value === '-' ? STDIN : value
}

/** What is wrong with the value of a flag. */
const valueProblem = ({ rawName, value, inlineValue }: Option, flag: Flag): string | undefined => {
  if (flag.type === 'boolean') return undefined
  // A negative number is a value, unlike a flag.
  const isFlag = inlineValue !== true && value !== undefined && /^-[^\d]/.test(value)
  if (flag.requiresArg === true && (value === undefined || value === '' || isFlag)) return `${rawName} needs a value.`
  if (flag.choices !== undefined && !flag.choices.includes(value)) {
    return `${rawName} cannot be ${value}: it must be one of ${flag.choices.join(', ')}.`
  }
  if (flag.isDuration === true && typedValue(value, flag) === 0) {
    return `${rawName} ${value} is not a valid duration. Write, for example, 90s, 10m or 1h30m.`
  }
  if (flag.type !== 'number') return undefined
  const { min = 0, max = Number.MAX_SAFE_INTEGER, isFractional = false } = flag
  const number = Number(value)
  if (number >= min && number <= max && (isFractional || Number.isInteger(number))) return undefined
  const range = flag.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  return `${rawName} must be a ${isFractional ? 'number' : 'whole number'} ${range}.`
}

/** The name of the command first, then its aliases. */
export const namesOf = ({ command, aliases = [] }: Command): readonly string[] => [
  command.split(' ')[0] ?? '',
  ...aliases,
]

const noCommand = (words: readonly string[], { names, command }: Path): string => {
  const isCommon = (word: string): boolean => Object.hasOwn(COMMON_FLAGS, word.replace(/^--/, ''))
  const last = names.at(-1)
  const word = words.slice(last === undefined ? 0 : words.indexOf(last) + 1).find((one) => !isCommon(one)) ?? ''
  if (word.startsWith('-')) {
    return command === undefined ? noFlag(word, {}, 'espalier') : `Which command of ${command.command}?`
  }
  const near = nearest(word, (command?.subcommands ?? COMMANDS).flatMap(namesOf))
  return `There is no command ${word}${near === undefined ? '.' : `: did you mean ${near}?`}`
}

const noFlag = (word: string, flags: Flags, own: string): string => {
  const flag = word.replace(/=.*$/s, '')
  const name = flag.replace(/^--?/, '')
  // A flag of another command is not a misspelling.
  if (COMMANDS.some((command) => command.flags[name] !== undefined)) return `${own} has no flag ${flag}.`
  const known = Object.entries({ ...flags, ...COMMON_FLAGS }).flatMap(([one, { alias = [] }]: [string, Flag]) => [
    one,
    ...[alias].flat(),
  ])
  const near = name.toLowerCase() === 'v' ? 'version' : nearest(name, [...known, 'help', 'version'])
  return `There is no flag ${flag}${near === undefined ? '.' : `: did you mean --${near}?`}`
}

/** Flags by what is typed: `--name`, `-n`. */
export const flagsByWord = (flags: Flags) =>
  new Map(
    Object.entries(flags).flatMap(([name, flag]) =>
      [name, ...[flag.alias ?? []].flat()].map((one) => [one.length === 1 ? `-${one}` : `--${one}`, { name, flag }]),
    ) as [string, { readonly name: string; readonly flag: Flag }][],
  )

/** Positionals by name (`<one>`, `[one]`, `[many..]`), or what is wrong with them. */
const readPositionals = (command: Command, given: readonly string[]): Readonly<Record<string, unknown>> | string => {
  const places = [...command.command.matchAll(/([<[])(\w+)(\.\.)?[>\]]/g)]
  const values: Record<string, unknown> = {}
  let left = given
  for (const [place, bracket, name = '', dots] of places) {
    const own = dots === undefined ? left.slice(0, 1) : left
    left = left.slice(own.length)
    if (bracket === '<' && own.length === 0) return `Missing argument: ${place}.`
    const { choices } = command.positionals?.[name] ?? {}
    const other = own.find((word) => choices?.includes(word) === false)
    if (other !== undefined) return `${name} cannot be ${other}: it must be one of ${choices?.join(', ')}.`
    values[name] = dots === undefined ? own[0] : own
  }
  return left[0] === undefined ? values : `Unexpected argument: ${left[0]}`
}
