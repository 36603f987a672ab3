import { nearest } from '../../base/index.ts'
import { LONGEST_MESSAGE } from '../files/limits.ts'

/** `a`, `b` or `c`. */
export const list = (words: readonly (string | number)[]): string => {
  const quoted = words.map((word) => `\`${word}\``)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

/** Empty if no known word is similar: a wrong hint is worse than none. */
export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const near = word.length > LONGEST_MESSAGE ? undefined : nearest(word, known)
  return near === undefined ? undefined : `Did you mean \`${near}\`?`
}

/** Names the type of a value, for messages. */
export const nameOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return { object: 'a map', string: 'text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'that'
}
