/** Determines whether the manifests on the head branch introduce a change, or the change resolves existing drift. */
import {
  type Change,
  type Difference,
  effectsFrom,
  type Mover,
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
    const parts = partsOf(change, before.get(keyOf(change)))
    const [old, fresh] = [parts.filter(isOld), parts.filter((part) => !isOld(part))]
    if (fresh.length === 0) drift.push(change)
    else if (old.length === 0) introduced.push(change)
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
 * Which side diverged from the other, per attribute.
 *
 * @param base the plan of the base's manifests, from the same snapshot as `head`.
 */
export const whoMoved = (base: Plan | undefined, head: Plan): readonly Difference[] => {
  const before = changesByCompute(base)
  return head.changes.flatMap((change) => partsOf(change, before.get(keyOf(change))))
}

/**
 * The attributes of an update, and any other change as a whole. Each with the side that diverged:
 *
 * - The base's plan makes the same change: the live project.
 * - The base's plan makes no change: the live project matches the base, so the manifest.
 * - The base's plan makes a different change: both.
 */
const partsOf = (change: Change, known: Change | undefined): readonly Difference[] => {
  const moverOf = (other: object | undefined, isSame: boolean): Mover =>
    other === undefined ? 'manifest' : isSame ? 'live' : 'both'
  if (change.kind === 'update') {
    return change.attributes.map((attribute) => {
      const other = known?.attributes.find(({ path }) => path === attribute.path)
      return { change, attribute, mover: moverOf(other, other?.afterText === attribute.afterText) }
    })
  }
  const isSame =
    change.kind === known?.kind &&
    change.branch.id === known.branch.id &&
    change.attributes.length === known.attributes.length &&
    change.attributes.every(({ path, afterText }) =>
      known.attributes.some((other) => path === other.path && afterText === other.afterText),
    )
  return [{ change, mover: moverOf(known, isSame) }]
}

const isOld = ({ mover }: Difference): boolean => mover === 'live'

/** The compute, or its slot if it does not exist yet. */
const keyOf = ({ project, compute, id }: Pick<Change, 'project' | 'compute' | 'id'>): string =>
  `${project} ${compute.id ?? id}`

const changesByCompute = (plan: Plan | undefined): ReadonlyMap<string, Change> =>
  new Map((plan?.changes ?? []).map((change) => [keyOf(change), change]))

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

const withOnly = (change: Change, parts: readonly Difference[]): Change => {
  const attributes = parts.flatMap(({ attribute }) => attribute ?? [])
  return {
    ...change,
    attributes,
    effects: effectsFrom(change, attributes),
    impact: worstImpact(attributes.map(({ impact }) => impact)),
    reasons: ['VALUE_DIFFERS'],
  }
}
