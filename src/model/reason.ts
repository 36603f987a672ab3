/** Why something is planned: a published list, one sentence each, which `explain` and the renderers share. */
export const REASONS = {
  NOT_OBSERVED: 'declared in the manifest, not found in the project',
  NAME_DIFFERS: 'the name differs',
  SIZE_DIFFERS: 'the size differs',
  SCALE_TO_ZERO_DIFFERS: 'scale to zero differs',
  DISABLED_DIFFERS: 'disabled differs',
  POOLER_DIFFERS: 'the pooler differs',
  PASSWORDLESS_DIFFERS: 'passwordless access differs',
  SETTINGS_DIFFER: 'Postgres settings differ',
  PRELOAD_DIFFERS: 'preloaded libraries differ',
  PIN_ELSEWHERE: 'the pinned compute lives on another branch',
  PARKED: 'parked on an empty branch to break a cycle of moves',
  TYPE_DIFFERS: 'the pinned compute has the other type, which the API cannot change',
  DECLARED_ABSENT: 'the manifest declares that the branch has no primary',
  PRUNED: 'no declaration claims it and the manifest says prune',
} as const

export type Reason = keyof typeof REASONS
