/**
 * Records the values of attributes, to tell whether an attribute was last changed in the manifest or in the live
 * project. The record is based on earlier refreshes, not on the git history.
 */
import type { DifferenceOrigin } from '../../model/index.ts'
import type { Fact } from '../../planner/index.ts'

/** A value as a string. `null` means that there is no value, or that the manifest declares that there is none. */
export type Value = Fact['want']

export interface Entry {
  readonly want: Value
  /** The live value at the last refresh. */
  readonly seen: Value
  /** The live value when `want` was set. Absent if unknown. */
  readonly base?: Value | undefined
  readonly agreed: boolean
}

export interface ProjectRecord {
  /** The version of the program that wrote the record. */
  readonly program: string
  /** The digest of the manifests that the record was written for. */
  readonly manifests: string
  readonly entries: Readonly<Record<string, Entry>>
}

export interface Refresh {
  readonly facts: readonly Fact[]
  readonly program: string
  readonly manifests: string
  /** Whether none of the earlier valid manifests that this agent knows of declared the project. */
  readonly isNewlyDeclared: boolean
}

/** The record after a refresh. Attributes that are no longer declared are dropped. */
export const refreshed = (
  record: ProjectRecord | undefined,
  { facts, program, manifests, isNewlyDeclared }: Refresh,
): ProjectRecord => {
  // After an upgrade, a fact may be new although the manifests are unchanged. It counts as having existed before.
  const isUpgrade = record !== undefined && record.program !== program && record.manifests === manifests
  const isRecorded = record === undefined ? isNewlyDeclared : !isUpgrade
  const entryOf = (fact: Fact): Entry => {
    const base = baseOf(record?.entries[fact.key], fact, isRecorded)
    return { want: fact.want, seen: fact.live, base, agreed: fact.agrees }
  }
  return { program, manifests, entries: Object.fromEntries(facts.map((fact) => [fact.key, entryOf(fact)])) }
}

const baseOf = (known: Entry | undefined, fact: Fact, isRecorded: boolean): Value | undefined => {
  const { want, live, agrees } = fact
  if (agrees) return live
  if (known === undefined) {
    if (!isRecorded) return undefined
    // If a compute is declared absent and was never seen before, someone created it outside the manifests. Deleting it
    // therefore reverts drift.
    return want === null ? null : live
  }
  if (want !== known.want) return known.seen
  const nobodyMoved = known.agreed && live === known.seen
  if (nobodyMoved) return undefined
  return known.base === undefined && live !== known.seen ? known.seen : known.base
}

/** The origin of an entry whose values differ. */
export const originOf = ({ base, seen }: Entry): DifferenceOrigin =>
  base === undefined ? 'unrecorded' : base === seen ? 'introduced' : 'drift'
