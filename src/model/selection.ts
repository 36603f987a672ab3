/** A part of what the manifests ask for, as one run plans or applies it. */
export interface Selection {
  /** Globs over project ids and names. */
  readonly projects?: readonly string[]
  /** Globs over branch names and ids. */
  readonly branches?: readonly string[]
  /** The name of a wave: only its projects. */
  readonly wave?: string
  /** Only what the manifests introduce since this commit; drift is left alone. */
  readonly introducedSince?: string
  /** Only these changes, by their ids. */
  readonly changes?: readonly string[]
}

/** A selection with what it leaves out. */
export interface PlanSelection extends Selection {
  readonly leftOut: {
    /** Declared projects that were not read. */
    readonly projects: number
    /** Changes that were not selected, whole or in part. */
    readonly changes: number
    /** Of these, changes that were selected and need one that was not. */
    readonly dependent: number
  }
}
