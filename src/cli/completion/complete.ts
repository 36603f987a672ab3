/** Completes a command line. It runs on every TAB, so it loads little and needs no network access. */
import { CONSENTS } from '../../model/index.ts'
import type { Description } from '../command.ts'
import { below, flagsByWord, pathOf } from '../command-line.ts'
import { descriptionOf, isLeaf, nameOf } from '../descriptions.ts'
import { COMMON_FLAGS, type Flag } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import type { DeclaredNames } from './names.ts'

/** Words with other characters are not offered, because shells would expand them. */
const SAFE = /^[\w./@:+=,-]+$/

export interface Candidate {
  readonly word: string
  readonly about?: string
}

/** @param words the words after the name of the program. The last one is still being typed. */
export const complete = async (words: readonly string[], io: Io): Promise<readonly Candidate[]> => {
  const typed = words.at(-1) ?? ''
  const candidates = await candidatesFor(words, typed, io)
  const fitting = candidates.filter(({ word }) => word.startsWith(typed) && SAFE.test(word))
  return [...new Map(fitting.map((candidate) => [candidate.word, candidate])).values()]
}

const candidatesFor = async (words: readonly string[], typed: string, io: Io): Promise<readonly Candidate[]> => {
  const { entry, names } = pathOf(words.slice(0, -1))
  const command = entry !== undefined && isLeaf(entry) ? await descriptionOf(entry) : undefined
  const flags = flagsByWord({ ...command?.flags, ...COMMON_FLAGS, help: { type: 'boolean' } })
  const takesValue = (word = ''): boolean => flags.get(word)?.flag.requiresArg === true
  const given = words.slice(0, -1).filter((word, at) => !word.startsWith('-') && !takesValue(words[at - 1]))
  const paths = command?.positionals?.paths === undefined ? [] : given.slice(names.length)
  const declared = async () => (await import('./names.ts')).declaredNames(io.cwd, paths, projectIn(words))
  const previous = flags.get(words.at(-2) ?? '')
  if (previous?.flag.requiresArg === true) return valuesOf(previous.name, previous.flag, typed, declared, io)
  if (typed.startsWith('-')) {
    return [...flags].flatMap(([word, { flag }]) =>
      word.startsWith('--') ? [{ word, about: flag.describe ?? '' }] : [],
    )
  }
  if (command === undefined) return below(entry).map((one) => ({ word: nameOf(one), about: one.summary }))
  return argumentsOf(command, names, declared)
}

const valuesOf = async (
  name: string,
  { choices }: Flag,
  typed: string,
  declared: () => Promise<DeclaredNames>,
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
      return (await declared()).projects.map((word) => ({ word }))
    case 'wave':
      return (await declared()).waves.map((word) => ({ word }))
    case 'branch':
      return (await declared()).branches.map((word) => ({ word }))
    case 'compute':
      return pinsIn((await declared()).computes)
    case 'base':
      return (await (await import('./names.ts')).gitRefs(io.cwd)).map((word) => ({ word }))
    default:
      return []
  }
}

const argumentsOf = async (
  { positionals = {} }: Description,
  names: readonly string[],
  declared: () => Promise<DeclaredNames>,
): Promise<readonly Candidate[]> => {
  const [[name, positional] = []] = Object.entries(positionals)
  if (positional?.choices !== undefined) return positional.choices.map((word) => ({ word }))
  if (name === 'code') return (await import('../commands/explain.ts')).codes()
  if (names[0] !== 'compute') return []
  const { computes } = await declared()
  return [...computes.map(({ ref }) => ({ word: ref })), ...pinsIn(computes)]
}

const pinsIn = (computes: DeclaredNames['computes']): readonly Candidate[] =>
  computes.flatMap(({ id, ref }) => (id === undefined ? [] : [{ word: id, about: ref }]))

const projectIn = (words: readonly string[]): string | undefined => {
  const at = words.lastIndexOf('--project')
  return at < 0 || at >= words.length - 2 ? undefined : words[at + 1]
}
