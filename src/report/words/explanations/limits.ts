/** Limits of the account, and policies. */
import type { Explanation } from './explanation.ts'

const TIERS = '`espalier sizes --tiers` lists the tiers; --tier-table FILE replaces the list.'

export const LIMITS: Readonly<Record<string, Explanation>> = {
  E_TIER_SIZE: {
    rule: "A size is one that the account's plan allows.",
    example: '4 CU on the Free plan',
    wayOut: `Use a smaller size. ${TIERS}`,
  },
  W_TIER_SIZE: {
    rule: "A size is one that the account's plan allows, as a docs page says.",
    example: '18 CU on the Launch plan',
    wayOut: TIERS,
  },
  E_TIER_SCALE_TO_ZERO: {
    rule: "A scale to zero is one that the account's plan allows.",
    example: '`scaleToZero: never` on the Free plan',
    wayOut: `Write \`scaleToZero: 5m\`. ${TIERS}`,
  },
  W_TIER_SCALE_TO_ZERO: {
    rule: "A scale to zero is one that the account's plan allows, as a docs page says.",
    example: '`scaleToZero: 10m` on the Launch plan',
    wayOut: TIERS,
  },
  W_TIER_REPLICAS: {
    rule: 'A project has no more read replicas than the plan of its account allows.',
    example: 'a fourth replica on the Free plan',
    wayOut: TIERS,
  },
  W_TIER_CU_HOURS: {
    rule: "A project is expected to use no more CU-hours than the account's plan includes.",
    example: '183 CU-hours a month on the Free plan, which includes 100',
    wayOut: 'All computes of the project are suspended once they are used up. docs/cost.md has the model.',
  },
  W_TIER_UNKNOWN: {
    rule: "Limits are checked where the account's plan is in the tier table.",
    example: 'plan `business`',
    wayOut: 'Name the tier with --tier, or give --tier-table.',
  },
  W_QUOTA: {
    rule: 'A project is expected to use no more than its quota.',
    example: '183 CU-hours a month, and a quota of 100',
    wayOut: 'Raise the quota, or use less: all computes are suspended once it is used up.',
  },
  W_PROJECT_NOT_READ: {
    rule: "The project's own settings can be read.",
    example: '403 for GET /projects/{id}',
    wayOut:
      'Use a key that may read the project. The plan does without: only cost, limits and maintenance lack something.',
  },
  E_PRICE: {
    rule: 'A price is an amount above 0 and at most 100 for a CU-hour, with a currency.',
    example: '--price 0.222USD',
  },
  E_TIER_TABLE: {
    rule: 'A tier table is a file as `espalier sizes --tiers` prints it.',
    example: '--tier-table tiers.json',
    wayOut: 'Start from the built-in one. The message has the place of the mistake.',
  },
  W_OVERRIDE_UNUSED: {
    rule: 'An override is needed by something in the plan.',
    example: '--override preview-size=load-test, and no preview is too large',
    wayOut: 'Leave it out.',
  },
  E_OVERRIDE: {
    rule: 'An override names a policy that exists, and gives a reason.',
    example: '--override preview-size=load-test',
    wayOut: 'Write --override NAME=REASON.',
  },
}
