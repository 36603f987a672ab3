/** Who caused a change: the manifests of the head, or somebody who changed the live project before (drift). */
import {
  type AttributeChange,
  type Change,
  type Difference,
  type Origin,
  type Plan,
  type ReleasedCompute,
  worstImpact,
} from '../model/index.ts'

/**
 * Splits the changes of the head's plan by what the base's plan would change as well. Both are made from one snapshot. A
 * compute that had drifted and is edited further is in both parts, each with its own attributes.
 *
 * @param base `undefined` if there is none: then everything is introduced.
 * @param released what the head no longer manages: its drift is not settled but out of sight.
 */
export const originOf = (base: Plan | undefined, head: Plan, released: readonly ReleasedCompute[] = []): Origin => {
  const before = changesByCompute(base)
  const introduced: Change[] = []
  const drift: Change[] = []
  for (const change of head.changes) {
    const known = before.get(keyOf(change))
    if (known === undefined || !isSameAction(known, change)) {
      introduced.push(change)
      continue
    }
    const old = change.attributes.filter((attribute) => isIn(attribute, known.attributes))
    const fresh = change.attributes.filter((attribute) => !old.includes(attribute))
    if (fresh.length === 0) drift.push(change)
    // Only an update can be split: a create, move, replacement or deletion is done as a whole.
    else if (old.length === 0 || change.kind !== 'update') introduced.push(change)
    else {
      introduced.push(withOnly(change, fresh))
      drift.push(withOnly(change, old))
    }
  }
  const after = new Set([
    ...head.changes.map(keyOf),
    ...released.map(({ project, compute }) => keyOf({ project, compute, id: '' })),
  ])
  const settled = [...before].filter(([key]) => !after.has(key)).map(([, change]) => change)
  return { introduced, drift, settled, released }
}

/**
 * Who moved away from the other, attribute by attribute:
 *
 * - The base asks for the same: the live project left it.
 * - The base asks for nothing: the live project is as the base wants it, so the manifest left it.
 * - The base asks for something else: both did.
 *
 * @param base the plan of the base's manifests, from the same snapshot as `head`.
 */
export const whoMoved = (base: Plan | undefined, head: Plan): readonly Difference[] => {
  const before = changesByCompute(base)
  return head.changes.flatMap((change): readonly Difference[] => {
    const known = before.get(keyOf(change))
    if (change.kind !== 'update') {
      return [{ change, mover: known === undefined ? 'manifest' : isSameAction(known, change) ? 'live' : 'both' }]
    }
    return change.attributes.map((attribute) => {
      const other = known?.attributes.find(({ path }) => path === attribute.path)
      return {
        change,
        attribute,
        mover: other === undefined ? 'manifest' : other.afterText === attribute.afterText ? 'live' : 'both',
      }
    })
  })
}

/** The compute, or the slot if one is to be created. */
const keyOf = ({ project, compute, id }: Pick<Change, 'project' | 'compute' | 'id'>): string =>
  `${project} ${compute.id ?? id}`

const changesByCompute = (plan: Plan | undefined): ReadonlyMap<string, Change> =>
  new Map((plan?.changes ?? []).map((change) => [keyOf(change), change]))

/** The same is done to the compute, and it ends in the same place. */
const isSameAction = (a: Change, b: Change): boolean => a.kind === b.kind && a.branch.id === b.branch.id

const isIn = (attribute: AttributeChange, others: readonly AttributeChange[]): boolean =>
  others.some(({ path, afterText }) => path === attribute.path && afterText === attribute.afterText)

const withOnly = (change: Change, attributes: readonly AttributeChange[]): Change => ({
  ...change,
  attributes,
  impact: worstImpact(attributes.map(({ impact }) => impact)),
  reasons: [...new Set(attributes.map(({ reason }) => reason))],
})
