/** What manifests ask for, with defaults and profiles merged in, sizes and durations normalised, sources kept. */
import type { ComputeAttributes } from './attributes/index.ts'
import type { Price } from './cost.ts'
import type { Source } from './diagnostic.ts'
import type { Policy } from './policy.ts'
import type { DeclaredWindow } from './restart-window.ts'

/** One manifest document for one project. A project may have several; one for several projects is here once for each. */
export interface DesiredDocument {
  readonly project: string
  readonly source: Source
  /** In the manifest's order. */
  readonly branches: readonly DesiredBranch[]
  /** First match wins. */
  readonly rules: readonly DesiredRule[]
  readonly prune: boolean
  /** An empty branch (name or id) on which a swap of primaries may park one. */
  readonly parkOn?: BranchReference
  /** That of its defaults, for what it does not declare. */
  readonly restartWindow?: DeclaredWindow
  readonly price?: Price
  /** Seconds that a branch must have left for a change that interrupts; see `SKIP_EXPIRING_SECONDS`. */
  readonly skipExpiring?: number
  /** Of the document and the files that it extends. They apply to its projects. */
  readonly policies?: readonly Policy[]
  /** Where the document's own keys were written, if they were. */
  readonly sources?: Readonly<Record<string, Source>>
}

export interface BranchReference {
  /** A branch name, or an id (`br-…`). */
  readonly ref: string
  readonly source: Source
}

/** What a branch, or each branch that a rule matches, should hold. */
export interface DesiredShape {
  readonly protect: boolean
  /** Where `protect` was written, if it was. */
  readonly protectSource?: Source
  /** `'absent'`: declared to have none. Left out: not managed. */
  readonly primary?: DesiredCompute | DesiredAbsence
  readonly replicas: readonly DesiredCompute[]
}

export interface DesiredBranch extends DesiredShape {
  /** A branch name, or an id (`br-…`). */
  readonly ref: string
  readonly source: Source
}

export interface DesiredRule extends DesiredShape {
  /** Glob over branch names: `*` within a path segment, `**` across segments, `?`, `[…]`, `{a,b}`. */
  readonly match: string
  readonly except: readonly string[]
  /** `true`: only branches that will be deleted; `false`: only those that stay; absent: both. */
  readonly expires?: boolean
  readonly source: Source
  /** It was written for several projects, so it need not match a branch of each. */
  readonly isShared?: true
}

export interface DesiredAbsence {
  readonly absent: true
  readonly source: Source
}

/** A declared compute. `attributes` holds only what is managed. */
export interface DesiredCompute {
  /** The key under `replicas`; absent on a primary. It is also `attributes.name` there. */
  readonly key?: string
  /** A pin: this very compute (`ep-…`), wherever it lives now. */
  readonly id?: string
  /** The replica's name before: a live one that still has it is this one. */
  readonly renamedFrom?: string
  readonly attributes: ComputeAttributes
  /** When it may be interrupted, defaults and profiles merged in; absent: at any time. */
  readonly restartWindow?: DeclaredWindow
  readonly source: Source
  /** Where each managed attribute was written (a default's own place where it came from there), by manifest path. */
  readonly sources: Readonly<Record<string, Source>>
}

/** Projects that are applied together, once those of the wave before are done. */
export interface DesiredWave {
  readonly name: string
  /** Project ids, or globs over them. */
  readonly projects: readonly string[]
  readonly source: Source
}

export interface Desired {
  readonly documents: readonly DesiredDocument[]
  /** In their order; absent if no manifest has any. See {@link waveOf}. */
  readonly waves?: readonly DesiredWave[]
}

export const isAbsence = (primary: DesiredCompute | DesiredAbsence): primary is DesiredAbsence => 'absent' in primary
