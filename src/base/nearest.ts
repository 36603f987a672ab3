/** Finds the known word that is most similar to a mistyped one, for "Did you mean" hints. */
import { distance } from 'fastest-levenshtein'

/** `undefined` if no known word is similar enough. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const ranked = known
    .map((candidate) => ({ candidate, far: candidate.startsWith(word) ? 1 : distance(word, candidate) }))
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
  const [best] = ranked
  return best !== undefined && best.far <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : undefined
}
