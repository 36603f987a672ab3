/** `NAME=reason`: somebody allows what a policy denies. */

import { nearest } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'

const MAX_REASON = 200

/**
 * Reasons by policy name.
 *
 * @throws {EspalierError} `E_OVERRIDE` for one without a reason, or of a policy that does not exist.
 */
export const parseOverrides = (words: readonly string[], policies: readonly string[]): ReadonlyMap<string, string> => {
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
    if (!policies.includes(name)) {
      const near = nearest(name, policies)
      throw new EspalierError('E_OVERRIDE', `There is no policy \`${name}\` to override.`, {
        hint: near === undefined ? `Policies here: ${policies.join(', ') || 'none'}.` : `Did you mean \`${near}\`?`,
      })
    }
    overrides.set(name, reason.trim())
  }
  return overrides
}
