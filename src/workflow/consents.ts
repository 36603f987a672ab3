/** Parses consents from flags and inputs. */
import { CONSENTS, type Consent, EspalierError } from '../model/index.ts'

const isConsent = (word: string): word is Consent => CONSENTS.some((consent) => consent === word)

/**
 * Parses a list of consents. `restart` is always allowed, unless the list contains `none`.
 *
 * @param name the name of the flag or input.
 * @throws {EspalierError} `E_USAGE` for an unknown word.
 */
export const allowed = (values: readonly string[], name = '--allow'): ReadonlySet<Consent> => {
  const words = values
    .flatMap((value) => value.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const wrong = words.find((word) => word !== 'none' && !isConsent(word))
  if (wrong !== undefined) {
    throw new EspalierError(
      'E_USAGE',
      `${name} cannot be "${wrong}": it must be ${CONSENTS.join(', ')} or none, separated by commas.`,
    )
  }
  return new Set([...(words.includes('none') ? [] : (['restart'] as const)), ...words.filter(isConsent)])
}
