import type { Change, Difference, Mover, Plan } from '../model/index.ts'

/**
 * Who moved away from the other, attribute by attribute: told by what the base's manifests ask of the same live project.
 *
 * - The base asks for the same: the live project left it.
 * - The base asks for nothing: the live project is as the base wants it, so the manifest left it.
 * - The base asks for something else: both did.
 *
 * @param base the plan of the base's manifests, against the same snapshot as `head`.
 */
export const whoMoved = (base: Plan | undefined, head: Plan): readonly Difference[] => {
  const before = new Map((base?.changes ?? []).map((change) => [keyOf(change), change]))
  return head.changes.flatMap((change): readonly Difference[] => {
    const known = before.get(keyOf(change))
    if (change.kind !== 'update') return [{ change, mover: ofDeed(known, change) }]
    return change.attributes.map((attribute) => {
      const other = known?.attributes.find(({ path }) => path === attribute.path)
      const mover: Mover = other === undefined ? 'manifest' : other.afterText === attribute.afterText ? 'live' : 'both'
      return { change, attribute, mover }
    })
  })
}

const keyOf = ({ project, compute, id }: Change): string => `${project} ${compute.id ?? id}`

const ofDeed = (known: Change | undefined, change: Change): Mover => {
  if (known === undefined) return 'manifest'
  return known.kind === change.kind && known.branch.id === change.branch.id ? 'live' : 'both'
}
