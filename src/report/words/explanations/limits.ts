/** Codes for account limits, prices and policies. */
import { type LimitCode, TIER_NAMES } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

const TIERS = '`espalier sizes --tiers` lists the tiers; --tier-table FILE replaces the list.'

export const LIMITS: Readonly<
  Record<LimitCode | 'E_PRICE' | 'E_TIER' | 'E_TIER_TABLE' | 'E_OVERRIDE' | 'E_POLICY_BASE', Explanation>
> = {
  E_TIER_SIZE: {
    rule: "The account's plan limits the size of a compute.",
    mistake: 'branches:\n  main: { primary: { size: 4 } }',
    correction: 'branches:\n  main: { primary: { size: 2 } }',
    wayOut: `Use a smaller size. ${TIERS}`,
  },
  W_TIER_SIZE: {
    rule: "The account's plan limits the size of a compute. This limit is known only from the service's documentation.",
    example: '18 CU on the Launch plan',
    wayOut: TIERS,
  },
  E_TIER_SCALE_TO_ZERO: {
    rule: "The account's plan limits which values `scaleToZero` can have.",
    mistake: 'branches:\n  main: { primary: { scaleToZero: never } }',
    correction: 'branches:\n  main: { primary: { scaleToZero: 5m } }',
    wayOut: `Write \`scaleToZero: 5m\`. ${TIERS}`,
  },
  W_TIER_SCALE_TO_ZERO: {
    rule: "The account's plan limits which values `scaleToZero` can have. This limit is known only from the service's documentation.",
    example: '`scaleToZero: 10m` on the Launch plan',
    wayOut: TIERS,
  },
  W_TIER_REPLICAS: {
    rule: "The account's plan limits the number of read replicas in a project.",
    example: 'a fourth replica on the Free plan',
    wayOut: TIERS,
  },
  W_TIER_CU_HOURS: {
    rule: "The account's plan includes a limited number of CU-hours.",
    example: '183 CU-hours a month on the Free plan, which includes 100',
    wayOut:
      "Use fewer CU-hours, or upgrade the account's plan. Once the CU-hours are used up, all computes are suspended.",
  },
  W_TIER_UNKNOWN: {
    rule: "The account's limits are checked only if its plan is in the tier table.",
    example: 'plan `business`',
    wayOut: 'Name the tier with --tier, or pass a tier table that contains it with --tier-table.',
  },
  W_QUOTA: {
    rule: 'A project must not use more than its quota.',
    example: 'a project that uses 183 CU-hours a month and has a quota of 100',
    wayOut: 'Raise the quota, or use less. Once the quota is used up, all computes of the project are suspended.',
  },
  W_PROJECT_NOT_READ: {
    rule: "The API key must be able to read the project's settings, because limits are checked against them.",
    example: '403 for GET /projects/{id}',
    wayOut:
      'Use a key that can read the project. Otherwise its limits, its service updates and part of its cost are unknown.',
  },
  E_PRICE: {
    rule: 'A price is an amount per CU-hour, above 0 and at most 100, with a currency.',
    mistake: 'espalier plan --price 0.222',
    correction: 'espalier plan --price 0.222USD',
  },
  E_TIER_TABLE: {
    rule: 'A tier table must have the format that `espalier sizes --tiers` prints.',
    example: '--tier-table tiers.json',
    wayOut: 'Start from the built-in table. The message shows where the mistake is.',
  },
  E_POLICY: {
    rule: 'A manifest must not contain anything that a policy denies.',
    example: 'size: 4 on preview/checkout, where `maxSize` is 0.25',
    wayOut: 'Change the manifest, or override the policy with --override NAME=REASON.',
  },
  W_POLICY: {
    rule: 'A manifest should not contain anything that a policy warns about.',
    example: 'three replicas on main, where `maxReplicas` is 2',
    wayOut: 'Change the manifest, or ignore the warning.',
  },
  W_OVERRIDE_UNUSED: {
    rule: 'An override is used only if its policy denies something in a manifest.',
    example: '--override preview-size=load-test, although no preview branch has too large a compute',
    wayOut: 'Remove the override.',
  },
  E_POLICY_BASE: {
    rule: 'A pull request is checked against the policies on its base branch, so those policies must be readable.',
    example: 'espalier.policy.yaml on main contains a rule that does not exist',
    wayOut: 'Correct the file on the base branch first.',
  },
  E_TIER: {
    rule: 'The account plan given with --tier must be in the tier table.',
    mistake: 'espalier plan --tier gold',
    correction: 'espalier plan --tier scale',
    wayOut: `Use one of ${TIER_NAMES}, or none to skip the check.`,
  },
  E_OVERRIDE: {
    rule: 'An override must name an existing policy and give a reason.',
    mistake: 'espalier plan --override preview-size',
    correction: 'espalier plan --override "preview-size=load test until Friday"',
    wayOut: 'Write --override NAME=REASON.',
  },
}
