/** Determines whether the manifests on the head branch introduce a change, or the change resolves existing drift. */
import {
  type AttributeChange,
  type Change,
  type Difference,
  effectsFrom,
  type Origin,
  type Plan,
  type Released,
  type ReleasedAttribute,
  worstImpact,
} from '../model/index.ts'

/**
 * Splits the changes of the head's plan by whether the base's plan contains them as well. Both plans use the same
 * snapshot. A compute that drifted and whose declaration was edited appears in both parts, each with its own
 * attributes.
 *
 * @param base `undefined` if there is none, in which case every change counts as introduced.
 * @param released the drift of computes that the head no longer manages is ignored rather than resolved.
 */
export const originOf = (base: Plan | undefined, head: Plan, released: readonly Released[] = []): Origin => {
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
    ...released.flatMap((one) => (one.kind === 'compute' ? [keyOf({ ...one, id: '' })] : [])),
  ])
  const settled = [...before].filter(([key]) => !after.has(key)).map(([, change]) => withReleased(change, released))
  return { introduced, drift, settled, released }
}

/**
 * Which side diverged from the other, per attribute:
 *
 * - The base's plan makes the same change: the live project diverged.
 * - The base's plan makes no change: the live project matches the base, so the manifest diverged.
 * - The base's plan makes a different change: both diverged.
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

/** The compute, or its slot if it does not exist yet. */
const keyOf = ({ project, compute, id }: Pick<Change, 'project' | 'compute' | 'id'>): string =>
  `${project} ${compute.id ?? id}`

const changesByCompute = (plan: Plan | undefined): ReadonlyMap<string, Change> =>
  new Map((plan?.changes ?? []).map((change) => [keyOf(change), change]))

/** Whether both changes do the same to the compute, with the same target. */
const isSameAction = (a: Change, b: Change): boolean => a.kind === b.kind && a.branch.id === b.branch.id

const isIn = (attribute: AttributeChange, others: readonly AttributeChange[]): boolean =>
  others.some(({ path, afterText }) => path === attribute.path && afterText === attribute.afterText)

/** With the live values of attributes that the head does not declare as far as they may be shown. */
const withReleased = (change: Change, released: readonly Released[]): Change => ({
  ...change,
  attributes: change.attributes.map((attribute) => {
    const isSame = (one: Released): one is ReleasedAttribute =>
      one.kind === 'attribute' && one.compute.id === change.compute.id && one.path === attribute.path
    const shown = released.find(isSame)
    return shown === undefined ? attribute : { ...attribute, before: shown.live, beforeText: shown.liveText }
  }),
})

const withOnly = (change: Change, attributes: readonly AttributeChange[]): Change => ({
  ...change,
  attributes,
  effects: effectsFrom(change, attributes),
  impact: worstImpact(attributes.map(({ impact }) => impact)),
  reasons: ['VALUE_DIFFERS'],
})
