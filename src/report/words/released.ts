/** What the manifests no longer declare, in words. */
import { counted, groupBy, listed } from '../../base/index.ts'
import type {
  Origin,
  Plan,
  Released,
  ReleasedAttribute,
  ReleasedCompute,
  ReleasedSafeguard,
  UnmanagedCompute,
} from '../../model/index.ts'
import { computeOnBranch, type PlanNames } from './names.ts'

/** Whether the manifests stop declaring something, even if nothing else changes. */
export const isReleasing = ({ policies }: Plan, { released }: Pick<Origin, 'released'>): boolean =>
  shownReleased(released).length > 0 || (policies?.changes ?? []).length > 0

/** An attribute whose live value is the default is in JSON only. */
export const shownReleased = (released: readonly Released[]): readonly Released[] =>
  released.filter((one) => one.kind !== 'attribute' || one.isDefault !== true)

export const releasedComputes = (released: readonly Released[]): readonly ReleasedCompute[] =>
  released.filter((one) => one.kind === 'compute')

/** `1 compute, 34 attributes, 1 safeguard` */
export const releasedCounts = (released: readonly Released[]): string => {
  const kinds = groupBy(shownReleased(released), ({ kind }) => kind)
  return [...kinds].map(([kind, own]) => counted(own.length, kind)).join(', ')
}

/** Computes and attributes, which stay as they are, and safeguards, which hold less from now on. */
export const releasedParts = (
  released: readonly Released[],
): readonly { id: string; title: string; counts: string; own: readonly Released[] }[] =>
  [
    { id: 'released', title: 'No longer managed', own: released.filter(({ kind }) => kind !== 'safeguard') },
    { id: 'weakened', title: 'Weakened safeguards', own: released.filter(({ kind }) => kind === 'safeguard') },
  ].flatMap((part) => {
    const counts = releasedCounts(part.own)
    return counts === '' ? [] : [{ ...part, counts }]
  })

export interface ReleasedGroup {
  /** `disabled (live: true)` */
  readonly what: string
  /** The computes or branches, at most three of them by name. */
  readonly where: string
  /** What happens, or the lines that restore the default. */
  readonly result: string
}

type Names = Pick<PlanNames, 'isFleet' | 'project' | 'compute'>

const MOST_NAMES = 3

/** The attributes and safeguards, each with all computes or branches that lose it. */
export const releasedGroups = (released: readonly Released[], names: Names): readonly ReleasedGroup[] => {
  const shown = shownReleased(released).filter((one) => one.kind !== 'compute')
  const groups = groupBy(shown, (one) =>
    JSON.stringify(
      one.kind === 'attribute' ? [one.path, one.liveText, one.undo] : [one.safeguard, one.before, one.after],
    ),
  )
  return [...groups.values()].map((own) => {
    const places = own.map((one) => {
      const { project, branch, compute } = one
      if (compute !== undefined) return names.compute({ project, branch, compute })
      return names.isFleet ? `${branch.name} in ${names.project(project)}` : branch.name
    })
    const [one] = own
    const noun = one?.compute === undefined ? 'branch' : 'compute'
    const where =
      places.length > MOST_NAMES ? `${counted(places.length, noun)}: ${listed(places, MOST_NAMES)}` : places.join(', ')
    return { ...(one === undefined ? { what: '', result: '' } : wordsOf(one)), where }
  })
}

const OF_ONE_PROJECT: Names = { isFleet: false, project: (id) => id, compute: (one) => computeOnBranch(one) }

/**
 * One line for each compute, and for each attribute and safeguard with all computes that lose it, of one project:
 * `Weakened safeguards: protect on main: no longer protected`.
 */
export const releasedLines = (released: readonly Released[]): readonly string[] =>
  releasedParts(released).flatMap(({ title, own }) =>
    [
      ...releasedComputes(own).map(
        (one) => `${computeOnBranch(one)} (${one.compute.id ?? ''}, ${unmanagedState(one)})`,
      ),
      ...releasedGroups(own, OF_ONE_PROJECT).map(({ what, where, result }) => `${what} on ${where}: ${result}`),
    ].map((line) => `${title}: ${line}`),
  )

const wordsOf = (one: ReleasedAttribute | ReleasedSafeguard): Pick<ReleasedGroup, 'what' | 'result'> => {
  if (one.kind === 'attribute') {
    const result = one.undo === undefined ? 'stays as it is' : `stays; to restore the default, write ${one.undo}`
    return { what: `${one.path} (live: ${one.liveText})`, result }
  }
  switch (one.safeguard) {
    case 'protect':
      return { what: 'protect', result: 'no longer protected' }
    case 'prune':
      return { what: 'prune', result: 'now deletes what is not declared' }
    default:
      return { what: one.safeguard, result: `${one.before} → ${one.after}` }
  }
}

/** The live state of an unmanaged compute: `idle, disabled`. */
export const unmanagedState = ({ compute: { state = '' }, disabled }: UnmanagedCompute): string =>
  disabled === true ? `${state}, disabled` : state

export const releasedHint = (computes: readonly ReleasedCompute[]): string =>
  [
    'A compute that is no longer managed stays as it is. To delete one, keep its branch in the manifest and declare it `absent`: `primary: absent`, or `replicas: { NAME: absent }`.',
    ...(computes.some(({ disabled }) => disabled === true)
      ? ['No connection can start a disabled one: to enable it, declare it with `disabled: false`.']
      : []),
  ].join(' ')
