/** Flags for cost, account limits and policies. */
import { TIER_NAMES } from '../model/index.ts'
import { text, toggle } from './flag.ts'

export const REVIEW_FLAGS = {
  price: text('Review:', 'Price per CU-hour, such as 0.222USD, to show cost in money'),
  tier: text('Review:', `Check the limits of this account plan: ${TIER_NAMES}, or none (default: the account's own)`),
  'tier-table': text('Review:', 'File with account plan limits to use instead of the built-in table'),
  policy: text('Review:', 'Policy file, in addition to espalier.policy.yaml; repeatable', { array: true }),
  override: text('Review:', 'Allow what a policy denies: NAME=REASON; repeatable', { array: true }),
  'no-project': toggle(
    'Control API:',
    'Do not read project settings (one request less each): limits, maintenance and most of the cost are unknown',
  ),
} as const
