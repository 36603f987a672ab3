import type { Plan } from '../model/index.ts'

/**
 * Whether two plans would do the same. That a compute fell asleep or woke up makes no difference: a plan says what each of
 * the two means, and what holds is judged when a step runs.
 */
export const isSamePlan = (one: Plan, other: Plan): boolean => deedsOf(one) === deedsOf(other)

const deedsOf = ({ changes, steps }: Plan): string =>
  JSON.stringify([
    changes.map(({ id, kind, from, attributes }) => [
      id,
      kind,
      from?.id,
      attributes.map(({ path, beforeText, afterText }) => [path, beforeText, afterText]),
    ]),
    steps.map(({ id, request, refused, windows }) => [id, request, refused, windows]).sort(),
  ])
