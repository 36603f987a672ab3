/**
 * The desired state, as read from the manifests. Defaults and profiles are already merged in, and sizes and durations
 * are normalised. Each value keeps its position in the file that declares it.
 */
import type { ComputeAttributes } from './attributes/index.ts'
import type { Price } from './cost.ts'
import type { Source } from './diagnostic.ts'
import type { Policy } from './policy-rules.ts'
import type { DeclaredWindow } from './restart-window.ts'

/** A manifest document for one project. A document for several projects appears once for each of them. */
export interface DesiredDocument {
  readonly project: string
  readonly source: Source
  /** In the order of the manifest. */
  readonly branches: readonly DesiredBranch[]
  /** For each branch, the first rule that matches it applies. */
  readonly rules: readonly DesiredRule[]
  readonly prune: boolean
  /** An empty branch (name or id) that can hold a primary temporarily while two primaries are swapped. */
  readonly parkOn?: BranchReference
  /** From the document's defaults. Applies to computes that no entry of the document declares. */
  readonly restartWindow?: DeclaredWindow
  readonly price?: Price
  /** The account plan whose limits are checked, or `none`. Default: the account's own. */
  readonly tier?: string
  /**
   * Changes that interrupt are skipped on branches that expire within this many seconds. See `SKIP_EXPIRING_SECONDS`.
   */
  readonly skipExpiring?: number
  /** Policies from the document and from the files that it extends. They apply to the document's projects. */
  readonly policies?: readonly Policy[]
  /** Where each of the document's own keys is declared. */
  readonly sources?: Readonly<Record<string, Source>>
}

export interface BranchReference {
  /** A branch name, or an id (`br-…`). */
  readonly ref: string
  readonly source: Source
}

/** The desired computes of a branch, or of each branch that a rule matches. */
export interface DesiredShape {
  readonly protect: boolean
  /** Where `protect` is declared. Absent if it is not. */
  readonly protectSource?: Source
  /** A {@link DesiredAbsence} declares that the branch has no primary. If undefined, the primary is not managed. */
  readonly primary?: DesiredCompute | DesiredAbsence
  readonly replicas: readonly DesiredCompute[]
  /** Names of replicas that the branch must not have. Absent if there are none. */
  readonly absentReplicas?: readonly DesiredAbsentReplica[]
}

export interface DesiredBranch extends DesiredShape {
  /** A branch name, or an id (`br-…`). */
  readonly ref: string
  readonly source: Source
}

export interface DesiredRule extends DesiredShape {
  /** Glob for branch names: `*` within a path segment, `**` across segments, `?`, `[…]`, `{a,b}`. */
  readonly match: string
  readonly except: readonly string[]
  /** `true` matches only branches that expire, and `false` only branches that do not. If absent, both match. */
  readonly expires?: boolean
  readonly source: Source
  /** Set if the rule's document is for several projects. The rule then need not match a branch in each of them. */
  readonly isShared?: true
}

export interface DesiredAbsence {
  readonly absent: true
  readonly source: Source
}

export interface DesiredAbsentReplica extends DesiredAbsence {
  /** The key under `replicas`, which is the name of the replica to delete. */
  readonly key: string
}

/** A declared compute. `attributes` contains only managed attributes. */
export interface DesiredCompute {
  /** The replica's key under `replicas`, which is also its `attributes.name`. Absent for a primary. */
  readonly key?: string
  /** A pin: the id (`ep-…`) of the live compute that is meant, whichever branch it is on now. */
  readonly id?: string
  /** The replica's previous name, so that a live replica with that name is recognised. */
  readonly renamedFrom?: string
  readonly attributes: ComputeAttributes
  /** When the compute may be interrupted, after defaults and profiles are applied. If absent, at any time. */
  readonly restartWindow?: DeclaredWindow
  readonly source: Source
  /** Where each managed attribute is declared, by manifest path. This can be a position in the defaults. */
  readonly sources: Readonly<Record<string, Source>>
}

/** Projects that are applied together, after those of the previous wave. */
export interface DesiredWave {
  readonly name: string
  /** Project ids or globs. */
  readonly projects: readonly string[]
  readonly source: Source
}

export interface Desired {
  readonly documents: readonly DesiredDocument[]
  /** In the order in which they are applied. Absent if no manifest defines waves. See {@link waveOf}. */
  readonly waves?: readonly DesiredWave[]
}

/** The keys of positions in files. */
const PLACES: ReadonlySet<string> = new Set(['source', 'sources', 'protectSource'])

/** Where a declaration is, at the end of a clause in parentheses. {@link withoutPlaces} removes it. */
export const placeWords = ({ file, line }: Source): string => ` at ${file}:${line}`

const PLACE_WORDS = / at [^()]*:\d+(?=\))/g

/**
 * A part of {@link Desired} or of a plan without positions, so that moving lines does not count as a change. The only
 * sentence of a plan with a position is the one that says why a change is refused.
 */
export const withoutPlaces = (value: unknown, key?: string): unknown => {
  if (typeof value === 'string' && key === 'refused') return value.replace(PLACE_WORDS, '')
  if (Array.isArray(value)) return value.map((one) => withoutPlaces(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (PLACES.has(name) ? [] : [[name, withoutPlaces(one, name)]])),
  )
}

/** The computes that a branch or a rule declares. */
export const computesDeclaredBy = ({ primary, replicas }: DesiredBranch | DesiredRule): readonly DesiredCompute[] => [
  ...(primary === undefined || isAbsence(primary) ? [] : [primary]),
  ...replicas,
]

export const isAbsence = (compute: object): compute is DesiredAbsence => 'absent' in compute
