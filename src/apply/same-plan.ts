import type { Plan } from '../model/index.ts'

/**
 * Whether two plans would do the same thing. It makes no difference if a compute was suspended or started, because a
 * plan covers both cases, and each step checks again when it runs.
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
