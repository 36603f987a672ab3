/** `NAME=reason`: allows values that a policy denies. */
import { didYouMean } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'

const MAX_REASON = 200

/**
 * @returns reasons by policy name.
 * @throws {EspalierError} `E_OVERRIDE` if a reason is missing.
 */
export const parseOverrides = (words: readonly string[]): ReadonlyMap<string, string> => {
  const overrides = new Map<string, string>()
  for (const word of words) {
    const [, name = '', reason = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? []
    if (reason.trim() === '' || reason.length > MAX_REASON) {
      throw new EspalierError(
        'E_OVERRIDE',
        `The override \`${word.slice(0, 100)}\` needs a reason of 1 to ${MAX_REASON} characters.`,
        {
          hint: 'Write --override NAME=REASON.',
        },
      )
    }
    overrides.set(name, reason.trim())
  }
  return overrides
}

/** @throws {EspalierError} `E_OVERRIDE` for an unknown policy. */
export const checkOverrideNames = (overrides: ReadonlyMap<string, string>, policies: readonly string[]): void => {
  const unknown = [...overrides.keys()].find((name) => !policies.includes(name))
  if (unknown === undefined) return
  throw new EspalierError('E_OVERRIDE', `There is no policy \`${unknown}\` to override.`, {
    hint: didYouMean(unknown, policies) ?? `Policies here: ${policies.join(', ') || 'none'}.`,
  })
}
