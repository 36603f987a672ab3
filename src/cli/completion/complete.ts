/** Completes a command line. It runs on every TAB, so it loads little and needs no network access. */
import { CONSENTS } from '../../model/index.ts'
import type { Description } from '../command.ts'
import { below, flagsByWord, pathOf } from '../command-line.ts'
import { descriptionOf, isLeaf, nameOf } from '../descriptions.ts'
import { COMMON_FLAGS, type Flag } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'

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
  return candidates.filter(({ word }) => word.startsWith(typed) && SAFE.test(word))
}

const candidatesFor = async (words: readonly string[], typed: string, io: Io): Promise<readonly Candidate[]> => {
  const { entry, names } = pathOf(words.slice(0, -1))
  const command = entry !== undefined && isLeaf(entry) ? await descriptionOf(entry) : undefined
  const flags = flagsByWord({ ...command?.flags, ...COMMON_FLAGS, help: { type: 'boolean' } })
  const previous = flags.get(words.at(-2) ?? '')
  if (previous?.flag.requiresArg === true) return valuesOf(previous.name, previous.flag, words, typed, io)
  if (typed.startsWith('-')) {
    return [...flags].flatMap(([word, { flag }]) =>
      word.startsWith('--') ? [{ word, about: flag.describe ?? '' }] : [],
    )
  }
  if (command === undefined) return below(entry).map((one) => ({ word: nameOf(one), about: one.summary }))
  return argumentsOf(command, names, words, io)
}

const valuesOf = async (
  name: string,
  { choices }: Flag,
  words: readonly string[],
  typed: string,
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
      return (await declared(words, io)).projects.map((word) => ({ word }))
    case 'wave':
      return (await declared(words, io)).waves.map((word) => ({ word }))
    case 'branch':
      return (await declared(words, io)).branches.map((word) => ({ word }))
    case 'compute':
      return (await declared(words, io)).computes.flatMap(({ id, ref }) =>
        id === undefined ? [] : [{ word: id, about: ref }],
      )
    case 'base':
      return (await (await import('./names.ts')).gitRefs(io.cwd)).map((word) => ({ word }))
    default:
      return []
  }
}

const argumentsOf = async (
  { positionals = {} }: Description,
  names: readonly string[],
  words: readonly string[],
  io: Io,
): Promise<readonly Candidate[]> => {
  const [[name, positional] = []] = Object.entries(positionals)
  if (positional?.choices !== undefined) return positional.choices.map((word) => ({ word }))
  if (name === 'code') return (await import('../commands/explain.ts')).codes()
  return names[0] === 'compute' ? (await declared(words, io)).computes.map(({ ref }) => ({ word: ref })) : []
}

const declared = async (words: readonly string[], { cwd }: Io) => {
  const at = words.lastIndexOf('--project')
  const project = at < 0 || at >= words.length - 2 ? undefined : words[at + 1]
  return (await import('./names.ts')).declaredNames(cwd, project)
}
