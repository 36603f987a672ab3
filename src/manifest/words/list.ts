import { nearest } from '../../base/index.ts'
import { LONGEST_MESSAGE } from '../files/limits.ts'

const quoted = (names: readonly (string | number)[]): readonly string[] => names.map((name) => `\`${name}\``)

/** `a`, `b` or `c`. */
export const list = (names: readonly (string | number)[]): string => {
  const all = quoted(names)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`
}

/** `a`, `b`, `c`: for an enumeration after a colon. */
export const enumeration = (names: readonly string[]): string => quoted(names).join(', ')

/** `undefined` if no known word is similar, because a wrong hint is worse than none. */
export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const near = word.length > LONGEST_MESSAGE ? undefined : nearest(word, known)
  return near === undefined ? undefined : `Did you mean \`${near}\`?`
}

/** Names of JSON types, for messages. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
}

/** Names the type of a value, for messages. */
export const nameOf = (value: unknown): string =>
  value === null || value === undefined
    ? 'empty'
    : (TYPE_NAMES[Array.isArray(value) ? 'array' : typeof value] ?? typeof value)
