/** Who moved an attribute last, its manifest or the live project. Told from what was seen before, not from git history. */

import type { Fact } from '../planner/index.ts'

/** As text; `null`: there is none, or there must be none. */
export type Value = Fact['want']

export interface Entry {
  readonly want: Value
  /** Live at the last refresh. */
  readonly seen: Value
  /** Live when `want` was set; absent: not known. */
  readonly base?: Value
  readonly agreed: boolean
}

export interface ProjectRecord {
  /** Version of the program that wrote it. */
  readonly program: string
  /** Digest of the manifests that it was written for. */
  readonly manifests: string
  readonly entries: Readonly<Record<string, Entry>>
}

export type Origin = 'introduced' | 'drift' | 'unrecorded'

export interface Refresh {
  readonly facts: readonly Fact[]
  readonly program: string
  readonly manifests: string
  /** An earlier valid version of the manifests, known to this agent, did not declare the project. */
  readonly isNewlyDeclared: boolean
}

/** What the record is after a refresh. Attributes that are no longer declared are removed. */
export const refreshed = (
  record: ProjectRecord | undefined,
  { facts, program, manifests, isNewlyDeclared }: Refresh,
): ProjectRecord => {
  // What a new version of the program sees for the first time in unchanged manifests was there before.
  const isUpgrade = record !== undefined && record.program !== program && record.manifests === manifests
  const isRecorded = record === undefined ? isNewlyDeclared : !isUpgrade
  const entryOf = (fact: Fact): Entry => {
    const base = baseOf(record?.entries[fact.key], fact, isRecorded)
    return { want: fact.want, seen: fact.live, ...(base === undefined ? {} : { base }), agreed: fact.agrees }
  }
  return { program, manifests, entries: Object.fromEntries(facts.map((fact) => [fact.key, entryOf(fact)])) }
}

const baseOf = (known: Entry | undefined, fact: Fact, isRecorded: boolean): Value | undefined => {
  const { want, live, agrees } = fact
  if (agrees) return live
  if (known === undefined) {
    if (!isRecorded) return undefined
    // A compute that must not be and was never seen before: somebody made it, so its deletion reverts that.
    return want === null ? null : live
  }
  if (want !== known.want) return known.seen
  const nobodyMoved = known.agreed && live === known.seen
  if (nobodyMoved) return undefined
  return known.base === undefined && live !== known.seen ? known.seen : known.base
}

/** Of an entry that does not agree. */
export const originOf = ({ base, seen }: Entry): Origin =>
  base === undefined ? 'unrecorded' : base === seen ? 'introduced' : 'drift'
