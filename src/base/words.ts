/** Words in messages: counted nouns, and "Did you mean" hints for mistyped names. */
import { distance } from 'fastest-levenshtein'

/** A longer word is not a mistyped name, and comparing it would take long. */
const LONGEST = 500

/** The known word that is most similar to a mistyped one. `undefined` if none is similar enough. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  if (word.length > LONGEST) return undefined
  const ranked = known
    .map((candidate) => ({ candidate, far: candidate.startsWith(word) ? 1 : distance(word, candidate) }))
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
  const [best] = ranked
  return best !== undefined && best.far <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : undefined
}

/** A hint for a mistyped name; `undefined` if no known name is similar, because a wrong hint is worse than none. */
export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const near = nearest(word, known)
  return near === undefined ? undefined : `Did you mean \`${near}\`?`
}

/** `12,345`, in every locale. At most three decimals. */
export const group = (count: number | string): string => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',')

/** `1 compute`, `2 computes`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${group(count)} ${count === 1 ? noun : plural}`

/** `a, b and 3 more`. @param most how many names are shown. */
export const listed = (names: readonly string[], most = 10): string =>
  `${names.slice(0, most).join(', ')}${names.length > most ? ` and ${group(names.length - most)} more` : ''}`
