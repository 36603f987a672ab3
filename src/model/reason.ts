/** Published reasons for planned changes. `explain` and all renderers use them. */
export const REASONS = {
  NOT_OBSERVED: 'declared in the manifest, not found in the project',
  VALUE_DIFFERS: 'a declared value differs from the live one',
  PIN_ELSEWHERE: 'the pinned compute is on another branch',
  PARKED: 'parked on an empty branch to break a cycle of moves',
  TYPE_DIFFERS: 'the pinned compute has a different type, and the API cannot change types',
  DECLARED_ABSENT: 'the manifest declares the compute `absent`',
  PRUNED: 'not declared, and the manifest sets prune: true',
} as const

export type Reason = keyof typeof REASONS
