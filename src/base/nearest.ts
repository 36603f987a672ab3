/** Finds the known word that is most similar to a mistyped one, for "Did you mean" hints. */
import { distance } from 'fastest-levenshtein'

/** A longer word is not a mistyped name, and comparing it would take long. */
const LONGEST = 500

/** `undefined` if no known word is similar enough. */
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
