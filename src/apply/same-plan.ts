import type { Plan } from '../model/index.ts'

/**
 * Whether two plans do the same. It does not matter whether a compute has been suspended or started in the meantime,
 * because a plan covers both cases, and each step checks again when it runs.
 */
export const isSamePlan = (one: Plan, other: Plan): boolean => actionsOf(one) === actionsOf(other)

const actionsOf = ({ changes, steps }: Plan): string =>
  JSON.stringify([
    changes.map(({ id, kind, from, attributes }) => [
      id,
      kind,
      from?.id,
      attributes.map(({ path, beforeText, afterText }) => [path, beforeText, afterText]),
    ]),
    steps.map(({ id, request, refused, windows }) => [id, request, refused, windows]).sort(),
  ])
