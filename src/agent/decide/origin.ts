/**
 * Records the values of attributes, to tell whether an attribute was last changed in the manifest or in the live
 * project. The record is based on earlier refreshes, not on the git history.
 */
import { groupBy } from '../../base/index.ts'
import type { DifferenceOrigin } from '../../model/index.ts'
import type { Fact } from '../../planner/index.ts'
import type { ProjectFile } from '../data-folder.ts'

/** A value as a string. `null` means that there is no value, or that the manifest declares that there is none. */
export type Value = Fact['want']

export type ProjectRecord = NonNullable<ProjectFile['record']>

export type Entry = ProjectRecord['entries'][string]

export const NO_RECORD: ProjectRecord = { program: '', manifests: '', entries: {}, computes: {}, rules: {} }

export interface Refresh {
  readonly facts: readonly Fact[]
  readonly program: string
  readonly manifests: string
  readonly rules: readonly string[]
  /** When the newest branch was created. */
  readonly newestBranch: string
  /** The ids of the changes with which the agent created computes. */
  readonly created: ReadonlySet<string>
}

/** The record after a refresh. Attributes that are no longer declared are dropped. */
export const refreshed = (record: ProjectRecord | undefined, refresh: Refresh): ProjectRecord => {
  const { facts, program, manifests, newestBranch } = refresh
  // After an upgrade, a fact may be new although the manifests are unchanged. It counts as having existed before.
  const isUpgrade = record !== undefined && record.program !== program && record.manifests === manifests
  const computes: Record<string, boolean> = {}
  for (const [id, own] of groupBy(facts, ({ claimed }) => claimed?.id))
    if (id !== undefined) computes[id] = isAccepted(own, record, refresh)
  const entryOf = (fact: Fact): Entry => {
    const known = record?.entries[fact.key]
    const isRecorded = known !== undefined || !isUpgrade
    const base = fact.agrees ? fact.live : baseOf(fact, known, isRecorded, record, computes)
    return { want: fact.want, seen: fact.live, base, agreed: fact.agrees }
  }
  return {
    program,
    manifests,
    entries: Object.fromEntries(facts.map((fact) => [fact.key, entryOf(fact)])),
    computes,
    rules: Object.fromEntries(refresh.rules.map((rule) => [rule, record?.rules[rule] ?? newestBranch])),
  }
}

/**
 * Whether the differences of a live compute are decided by which side changed last. Until then, it is unknown who is
 * right, no matter how many commits follow: the compute may serve production.
 */
const isAccepted = (facts: readonly Fact[], record: ProjectRecord | undefined, { created }: Refresh): boolean => {
  const [claimed] = facts.flatMap((fact) => fact.claimed ?? [])
  if (claimed === undefined) return false
  const known = record?.computes[claimed.id]
  if (known === true || created.has(claimed.slot) || facts.every(({ agrees }) => agrees)) return true
  const { rule = '', branchCreatedAt = '' } = claimed.byRule ?? {}
  const knownSince = record?.rules[rule]
  // The times are both of the service, so the clocks need not agree.
  const isNewBranch = knownSince !== undefined && Date.parse(branchCreatedAt) > (Date.parse(knownSince) || 0)
  const isInPlace = facts.every(({ key, agrees }) => agrees || !/\/(type|branch)$/.test(key))
  return known === undefined && isNewBranch && isInPlace
}

const baseOf = (
  { key, want, live, claimed }: Fact,
  known: Entry | undefined,
  isRecorded: boolean,
  record: ProjectRecord | undefined,
  computes: ProjectRecord['computes'],
): Value | undefined => {
  if (!isRecorded || (claimed !== undefined && computes[claimed.id] !== true)) return undefined
  if (known === undefined) {
    if (want !== null) return live
    // A compute that is to be deleted was declared until now, or else somebody created it outside the manifests.
    // Deleting that one reverts drift.
    if (record === undefined) return undefined
    const wasAccepted = record.computes[key.slice(0, key.indexOf('/'))]
    return wasAccepted === true ? live : wasAccepted === false ? undefined : null
  }
  if (want !== known.want) return known.seen
  const nobodyMoved = known.agreed && live === known.seen
  if (nobodyMoved) return undefined
  return known.base === undefined && live !== known.seen ? known.seen : known.base
}

/**
 * Accepts every compute and its unrecorded differences as introduced by the manifests.
 *
 * @param shown the record that was shown to whoever accepts it. A value that has changed since is drift.
 */
export const adopted = (record: ProjectRecord, shown: ProjectRecord): ProjectRecord => ({
  ...record,
  computes: Object.fromEntries(
    Object.entries(record.computes).map(([id, isAccepted]) => [id, isAccepted || shown.computes[id] !== undefined]),
  ),
  entries: Object.fromEntries(
    Object.entries(record.entries).map(([key, entry]) => {
      const before = shown.entries[key]
      const isUnrecorded = !entry.agreed && entry.base === undefined && before !== undefined
      return [key, isUnrecorded ? { ...entry, base: before.seen } : entry]
    }),
  ),
})

/** The origin of an entry whose values differ. */
export const originOf = ({ base, seen }: Entry): DifferenceOrigin =>
  base === undefined ? 'unrecorded' : base === seen ? 'introduced' : 'drift'
