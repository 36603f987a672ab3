import { globMatches } from '../base/index.ts'

/** Restricts a run to a part of the manifests. */
export interface Selection {
  /** Globs for project ids and names. */
  readonly projects?: readonly string[]
  /** Globs for branch names and ids. */
  readonly branches?: readonly string[]
  /** Only the projects of this wave. */
  readonly wave?: string
  /** Only changes introduced since this commit, without drift. */
  readonly introducedSince?: string
  /** Only changes with these ids. */
  readonly changes?: readonly string[]
}

/** A selection, and how much of the manifests and changes it leaves out. */
export interface PlanSelection extends Selection {
  readonly leftOut: {
    /** Declared projects that were not read. */
    readonly projects: number
    /** Changes that were not selected, entirely or in part. */
    readonly changes: number
    /** How many of them were selected, but run only together with a change that was not. */
    readonly dependent: number
  }
  /** Ids of changes that were not selected, but without which selected changes cannot run. Absent if there are none. */
  readonly included?: readonly string[]
}

// The order in which the projects of a fleet are applied.

/** Index of the first wave that includes the project; `waves.length` if none does. */
export const waveOf = (waves: readonly { readonly projects: readonly string[] }[], project: string): number => {
  const wave = waves.findIndex(({ projects }) => projects.some((glob) => globMatches(glob, project)))
  return wave < 0 ? waves.length : wave
}
