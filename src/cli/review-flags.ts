/** Flags by which a plan is reviewed: what it costs, what the account and the team allow. */
export const REVIEW_FLAGS = {
  price: {
    type: 'string',
    requiresArg: true,
    group: 'Review:',
    describe: 'Price per CU-hour, such as 0.222USD, to show cost in money',
  },
  tier: {
    type: 'string',
    requiresArg: true,
    group: 'Review:',
    describe: "Check the limits of this account plan: free, launch, scale, or none (default: the account's own)",
  },
  'tier-table': {
    type: 'string',
    requiresArg: true,
    group: 'Review:',
    describe: 'File with account plan limits to use instead of the built-in table',
  },
  policy: {
    type: 'string',
    array: true,
    requiresArg: true,
    group: 'Review:',
    describe: 'Policy file, in addition to espalier.policy.yaml; repeatable',
  },
  'no-project': {
    type: 'boolean',
    group: 'Control API:',
    describe:
      'Do not read the projects’ settings: a request less each; limits, maintenance and part of the cost are unknown',
  },
  override: {
    type: 'string',
    array: true,
    requiresArg: true,
    group: 'Review:',
    describe: 'Allow what a policy denies: NAME=REASON; repeatable',
  },
} as const
