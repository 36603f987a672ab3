const budget = (describe: string) => ({ type: 'number', requiresArg: true, group: 'Consent:', describe }) as const

/** Absolute limits of a run; of the agent, of 24 hours for each project. */
export const BUDGET_FLAGS = {
  'max-restarts': budget('Change nothing where more computes than this restart'),
  'max-deletes': budget('Change nothing where more computes than this are deleted'),
  'max-cu-increase': budget('Change nothing where the upper limits grow by more CU than this'),
  'max-cu-hours-increase': budget('Change nothing where the plan adds more CU-hours a month than this'),
} as const
