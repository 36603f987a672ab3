/**
 * The desired state from manifests: defaults and profiles are merged in, sizes and durations normalised, sources kept.
 */
import type { ComputeAttributes } from './attributes/index.ts'
import type { Price } from './cost.ts'
import type { Source } from './diagnostic.ts'
import type { Policy } from './policy.ts'
import type { DeclaredWindow } from './restart-window.ts'

/** A manifest document for one project. A document for several projects appears once for each of them. */
export interface DesiredDocument {
  readonly project: string
  readonly source: Source
  /** In the manifest's order. */
  readonly branches: readonly DesiredBranch[]
  /** The first match wins. */
  readonly rules: readonly DesiredRule[]
  readonly prune: boolean
  /** An empty branch (name or id) that can hold a primary temporarily while two primaries are swapped. */
  readonly parkOn?: BranchReference
  /** From the document's defaults. Applies to computes that no entry of the document declares. */
  readonly restartWindow?: DeclaredWindow
  readonly price?: Price
  /**
   * Changes that interrupt are skipped on branches that expire within this many seconds. See `SKIP_EXPIRING_SECONDS`.
   */
  readonly skipExpiring?: number
  /** Policies of the document and the files that it extends. They apply to its projects. */
  readonly policies?: readonly Policy[]
  /** Sources of the document's own keys. */
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
  /** Source of `protect`, if it is declared. */
  readonly protectSource?: Source
  /** An absence declares that there is no primary. Undefined: not managed. */
  readonly primary?: DesiredCompute | DesiredAbsence
  readonly replicas: readonly DesiredCompute[]
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
  /** `true`: only branches that expire; `false`: only those that do not; absent: both. */
  readonly expires?: boolean
  readonly source: Source
  /** Written for several projects, so it does not have to match a branch in each. */
  readonly isShared?: true
}

export interface DesiredAbsence {
  readonly absent: true
  readonly source: Source
}

/** A declared compute. `attributes` contains only managed attributes. */
export interface DesiredCompute {
  /** The key under `replicas`, which is also `attributes.name`. Absent for a primary. */
  readonly key?: string
  /** A pin: the id of a compute (`ep-…`), whichever branch it is on now. */
  readonly id?: string
  /** The replica's previous name, so that a live replica with that name is recognised. */
  readonly renamedFrom?: string
  readonly attributes: ComputeAttributes
  /** When the compute may be interrupted, including defaults and profiles. Absent: any time. */
  readonly restartWindow?: DeclaredWindow
  readonly source: Source
  /** Sources of managed attributes, by manifest path. For a default, this is the source of the default. */
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
  /** In order; absent if no manifest defines waves. See {@link waveOf}. */
  readonly waves?: readonly DesiredWave[]
}

/** The computes that a branch or a rule declares. */
export const computesDeclaredBy = ({ primary, replicas }: DesiredBranch | DesiredRule): readonly DesiredCompute[] => [
  ...(primary === undefined || isAbsence(primary) ? [] : [primary]),
  ...replicas,
]

export const isAbsence = (primary: DesiredCompute | DesiredAbsence): primary is DesiredAbsence => 'absent' in primary
