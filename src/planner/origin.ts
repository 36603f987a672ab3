/** Who caused a change: the pull request, or nobody in it (the live project had drifted before). */
import {
  type AttributeChange,
  type Change,
  type Origin,
  type Plan,
  type ReleasedCompute,
  worstImpact,
} from '../model/index.ts'

/**
 * Parts the changes of the head's plan by the plan of the base, made against the same snapshot. A compute whose drift
 * the pull request edits further is in both parts, each with its own attributes.
 *
 * @param base `undefined` where there is none: then all is introduced.
 * @param released what the head no longer manages: its drift is not settled, nobody looks at it any more.
 */
export const originOf = (base: Plan | undefined, head: Plan, released: readonly ReleasedCompute[] = []): Origin => {
  const before = new Map((base?.changes ?? []).map((change) => [keyOf(change), change]))
  const introduced: Change[] = []
  const drift: Change[] = []
  const after = new Set(released.map(({ project, compute }) => `${project} ${compute.id ?? ''}`))
  for (const change of head.changes) {
    const key = keyOf(change)
    after.add(key)
    const known = before.get(key)
    if (known === undefined || !isSameDeed(known, change)) {
      introduced.push(change)
      continue
    }
    const old = change.attributes.filter((attribute) => isIn(attribute, known.attributes))
    const fresh = change.attributes.filter((attribute) => !old.includes(attribute))
    if (fresh.length === 0) drift.push(change)
    // Only an update has parts that can stand alone; whatever else is done is done whole.
    else if (old.length === 0 || change.kind !== 'update') introduced.push(change)
    else {
      introduced.push(withOnly(change, fresh))
      drift.push(withOnly(change, old))
    }
  }
  const settled = [...before].filter(([key]) => !after.has(key)).map(([, change]) => change)
  return { introduced, drift, settled, released }
}

/** The compute, or the place where one is to be. */
const keyOf = ({ project, compute, id }: Change): string => `${project} ${compute.id ?? id}`

/** The same kind of thing is done, at the same place. */
const isSameDeed = (a: Change, b: Change): boolean =>
  a.kind === b.kind && a.branch.id === b.branch.id && a.from?.id === b.from?.id

const isIn = (attribute: AttributeChange, others: readonly AttributeChange[]): boolean =>
  others.some(({ path, afterText }) => path === attribute.path && afterText === attribute.afterText)

const withOnly = (change: Change, attributes: readonly AttributeChange[]): Change => ({
  ...change,
  attributes,
  impact: worstImpact(attributes.map(({ impact }) => impact)),
  reasons: [...new Set(attributes.map(({ reason }) => reason))],
})
