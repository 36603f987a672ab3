/** Determines whether the manifests on the head branch introduce a change, or the change resolves existing drift. */
import { compare } from '../base/index.ts'
import {
  type AttributeChange,
  type Change,
  type Desired,
  type Difference,
  type Observed,
  type Origin,
  type Plan,
  type ReleasedCompute,
  worstImpact,
} from '../model/index.ts'
import { declarationsOf } from './declarations.ts'
import { branchNamer, unmanagedCompute } from './steps.ts'

/**
 * Splits the changes of the head's plan by whether the base's plan contains them as well. Both plans use the same
 * snapshot. A compute that drifted and whose declaration was edited appears in both parts, each with its own
 * attributes.
 *
 * @param base `undefined` if there is none, in which case every change counts as introduced.
 * @param released computes that the head no longer manages, whose drift is ignored rather than resolved.
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

const withOnly = (change: Change, attributes: readonly AttributeChange[]): Change => ({
  ...change,
  attributes,
  impact: worstImpact(attributes.map(({ impact }) => impact)),
  reasons: ['VALUE_DIFFERS'],
})

/**
 * Live computes that the base declares and the head does not. Excludes computes that the head deletes (declared absent or
 * pruned), because its plan contains those changes.
 */
export const releasedSince = (base: Desired, head: Desired, { projects }: Observed): readonly ReleasedCompute[] =>
  projects
    .flatMap((project) => {
      const { claims, departures } = declarationsOf(head, project)
      const known = new Set([...claims.map(({ observed }) => observed?.id), ...departures.map(({ live }) => live.id)])
      const branchName = branchNamer(project)
      return declarationsOf(base, project).claims.flatMap(({ observed: live, desired }) =>
        live === undefined || known.has(live.id)
          ? []
          : [{ ...unmanagedCompute({ project: project.id, branchName }, live), source: desired.source }],
      )
    })
    .sort(
      (a, b) =>
        compare(a.project, b.project) ||
        compare(a.branch.name, b.branch.name) ||
        compare(b.compute.type, a.compute.type) ||
        compare(a.compute.id ?? '', b.compute.id ?? ''),
    )
