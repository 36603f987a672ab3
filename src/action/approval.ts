/** Decides which changes of a plan are approved: those that a comment showed before its pull request was approved. */
import { formatUtc } from '../base/index.ts'
import type { Change } from '../model/index.ts'
import type { PullReviews, Review } from './pull-requests.ts'
import { digestsOf, type PlanRecord } from './record.ts'

/** A pull request, as far as it approves changes. */
export interface Approval {
  readonly number: number
  readonly record?: PlanRecord
  /** When it was approved, in seconds since 1970, or why it is not. */
  readonly approved: number | string
}

/** A reviewer needs this much time to see what the comment shows. */
const LEAST_READING_S = 60

/** Why a review that approves does not count. The first that applies is shown. */
const FLAWS: readonly (readonly [words: string, applies: (review: Review, pull: PullReviews) => boolean])[] = [
  ['is not by a user', ({ author }) => author?.type !== 'User'],
  ['is by an account that cannot push to this repository', ({ canPush }) => !canPush],
  ['is for an earlier commit', ({ commit }, { head }) => commit !== head],
  ['is by the author of the pull request', ({ author }, pull) => author?.login === pull.author],
  ['may be by an author of its commits, which are too many to read', (_, { committers }) => committers === undefined],
  ['is by an author of its commits', ({ author }, { committers }) => committers?.has(author?.login ?? '') !== false],
]

/** @param record what the pull request shows, or why this is unknown. */
export const approvalOf = (pull: PullReviews, record: PlanRecord | string): Approval => {
  const { number, reviews } = pull
  if (typeof record === 'string') return { number, approved: record }
  const as = (approved: Approval['approved']): Approval => ({ number, record, approved })
  const objection = reviews.find(({ state }) => state === 'CHANGES_REQUESTED')
  if (objection !== undefined) return as(`${nameOf(objection)} requested changes`)
  const approving = reviews.filter(({ state }) => state === 'APPROVED').toSorted((a, b) => b.at - a.at)
  const flawed = approving.flatMap((review) => {
    const flaw = FLAWS.find(([, applies]) => applies(review, pull))
    return flaw === undefined ? [] : [{ review, words: flaw[0] }]
  })
  const counting = approving.find((review) => !flawed.some((one) => one.review === review))
  if (counting !== undefined) return as(counting.at / 1_000)
  const [first] = flawed
  return as(first === undefined ? 'nobody has approved it' : `the approval by ${nameOf(first.review)} ${first.words}`)
}

const nameOf = ({ author }: Review): string => author?.login ?? 'a deleted account'

export interface Unapproved {
  readonly change: Change
  readonly why: string
}

export interface Judgement {
  readonly approved: readonly Change[]
  /** Introduced changes without approval: nothing may run in their projects. */
  readonly lacking: readonly Unapproved[]
  /** Drift without approval. */
  readonly drift: readonly Change[]
}

const isInTime = (shownAt: number | undefined, approved: Approval['approved']): boolean =>
  shownAt !== undefined && typeof approved === 'number' && approved - shownAt >= LEAST_READING_S

/** The pull requests that approve all of a change; empty if a part of it is not approved. */
export const approversOf = (change: Change, approvals: readonly Approval[]): readonly Approval[] => {
  const approvers = digestsOf(change).map((digest) =>
    approvals.find(({ record, approved }) => isInTime(record?.shown.get(digest), approved)),
  )
  const known = approvers.filter((one) => one !== undefined)
  return known.length === approvers.length ? known : []
}

/** Changes that are refused do not run, so they need no approval. They count as approved, so that they are reported. */
export const judge = (
  changes: readonly Change[],
  isIntroduced: (change: Change) => boolean,
  approvals: readonly Approval[],
): Judgement => {
  const isApproved = (change: Change): boolean =>
    (change.refused !== undefined && isIntroduced(change)) || approversOf(change, approvals).length > 0
  const others = changes.filter((change) => !isApproved(change))
  return {
    approved: changes.filter(isApproved),
    lacking: others.filter(isIntroduced).map((change) => ({ change, why: whyNot(change, approvals) })),
    drift: others.filter((change) => !isIntroduced(change)),
  }
}

const whyNot = (change: Change, approvals: readonly Approval[]): string => {
  const digests = digestsOf(change)
  const reasons = approvals.flatMap(({ number, record, approved }) => {
    const times = digests.map((digest) => record?.shown.get(digest))
    const known = times.filter((time) => time !== undefined)
    if (record !== undefined && known.length === 0) return []
    if (typeof approved === 'string') return [`#${number}: ${approved}`]
    if (known.length < times.length) return [`#${number} shows only a part of it, or other values`]
    const late = Math.max(...known)
    const order = late > approved ? 'after' : 'less than a minute before'
    return [`#${number}: shown on ${formatUtc(late * 1_000)}, ${order} the approval of ${formatUtc(approved * 1_000)}`]
  })
  return reasons.length > 0 ? reasons.join('; ') : 'no comment on a pull request shows it'
}
