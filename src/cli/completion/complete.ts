/** Completes a command line. It runs at every TAB, so it loads no parser and does not wait long for the service. */
import type { Options } from 'yargs'
import { CONSENTS } from '../../model/index.ts'
import type { Runnable } from '../command.ts'
import { COMMANDS } from '../commands/index.ts'
import { COMMON_FLAGS } from '../flags.ts'
import type { Io } from '../io.ts'
import type { Candidate } from './candidate.ts'

/** Shells expand completions, so words with special characters are not offered. */
const SAFE = /^[\w./@:+=,-]+$/

/** @param words after the program's name; the last one is being typed. */
export const complete = async (words: readonly string[], io: Io): Promise<readonly Candidate[]> => {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const { command, rest } = commandOf(before)
  const candidates = await candidatesFor({ command, rest, typed, words }, io)
  return candidates.filter(({ word }) => word.startsWith(typed) && SAFE.test(word))
}

interface Place {
  readonly command: Runnable | undefined
  /** The words between the command's name and the one being typed. */
  readonly rest: readonly string[]
  readonly typed: string
  readonly words: readonly string[]
}

const candidatesFor = async (place: Place, io: Io): Promise<readonly Candidate[]> => {
  const { command, rest, typed } = place
  const flags = flagsOf(command)
  const previous = rest.at(-1) ?? ''
  const flag = previous.startsWith('-') ? flags.get(previous) : undefined
  if (flag !== undefined && takesValue(flag.options)) return valuesOf(flag.name, flag.options, place, io)
  if (typed.startsWith('-')) {
    return [...flags].flatMap(([word, { options }]) =>
      word.startsWith('--') ? [{ word, about: options.describe ?? '' }] : [],
    )
  }
  const below = command === undefined ? COMMANDS : command.subcommands
  if (below !== undefined) return below.map(({ command: line, summary }) => ({ word: nameOf(line), about: summary }))
  return command === undefined ? [] : argumentsOf(command, place, io)
}

const valuesOf = async (
  name: string,
  { choices }: Options,
  { typed, words }: Place,
  io: Io,
): Promise<readonly Candidate[]> => {
  if (choices !== undefined) return choices.map((word) => ({ word: String(word) }))
  switch (name) {
    case 'allow': {
      const given = typed.slice(0, typed.lastIndexOf(',') + 1)
      const used = given.split(',')
      return CONSENTS.filter((consent) => !used.includes(consent)).map((consent) => ({ word: given + consent }))
    }
    case 'project':
      return (await live(words, io)).projects.map(({ id, name: about }) => ({ word: id, about }))
    case 'branch':
      return (await live(words, io)).branches.map((word) => ({ word }))
    case 'compute':
      return (await live(words, io)).computes.map(({ id, ref }) => ({ word: id, about: ref }))
    case 'base':
    case 'since':
      return (await import('./git-refs.ts')).gitRefs(io.cwd)
    default:
      return []
  }
}

const argumentsOf = async (command: Runnable, { words }: Place, io: Io): Promise<readonly Candidate[]> => {
  const [[name, positional] = []] = Object.entries(command.positionals ?? {})
  if (positional?.choices !== undefined) return positional.choices.map((word) => ({ word }))
  if (name === 'code') return (await import('../runs/explain.ts')).codes()
  const isCompute = name === 'refs' && /^(?:start|suspend|restart|delete)\b/.test(command.command)
  return isCompute ? (await live(words, io)).computes.map(({ id, ref }) => ({ word: ref, about: id })) : []
}

const live = async (words: readonly string[], io: Io) => (await import('./live-names.ts')).liveNames(words, io)

const commandOf = (
  words: readonly string[],
): { readonly command: Runnable | undefined; readonly rest: readonly string[] } => {
  let command: Runnable | undefined
  for (const [index, word] of words.entries()) {
    const next = (command === undefined ? COMMANDS : (command.subcommands ?? [])).find(
      ({ command: line, aliases = [] }) => nameOf(line) === word || aliases.includes(word),
    )
    if (next === undefined) return { command, rest: words.slice(index) }
    command = next
  }
  return { command, rest: [] }
}

const nameOf = (line: string): string => line.split(' ')[0] ?? ''

/** Flags as typed: `--name`, `-n`. */
const flagsOf = (
  command: Runnable | undefined,
): ReadonlyMap<string, { readonly name: string; readonly options: Options }> => {
  const all = Object.entries<Options>({ ...command?.flags, ...COMMON_FLAGS, help: { type: 'boolean' } })
  return new Map(
    all.flatMap(([name, options]) => [
      [`--${name}`, { name, options }] as const,
      ...[options.alias ?? []].flat().map((alias) => [`-${alias}`, { name, options }] as const),
    ]),
  )
}

const takesValue = ({ type, requiresArg }: Options): boolean => requiresArg === true && type !== 'boolean'
