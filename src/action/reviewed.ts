/** Records the changes that the reviewers of a pull request saw, as digests in the plan's comment. */
import { createHash } from 'node:crypto'
import type { Change, Origin } from '../model/index.ts'

/** If a plan has more changes than this, nothing is recorded, because the comment must have room for the plan. */
const MOST_RECORDED = 1_000

/**
 * The hidden record at the end of the comment with the plan. Empty if there are too many changes.
 *
 * @param commit the head commit of the pull request.
 */
export const reviewRecord = (changes: readonly Change[], commit: string): string => {
  const digests = changes.flatMap((change) => [change, ...leftOfMove(change)]).flatMap(digestsOf)
  return digests.length > MOST_RECORDED ? '' : `${['<!-- espalier reviewed', commit, ...digests].join(' ')} -->\n`
}

/** If only the first half of a move was applied, the compute is already on the target branch and an update is left. */
const leftOfMove = ({ from, ...change }: Change): readonly Change[] =>
  from === undefined ? [] : [{ ...change, kind: 'update' }]

const RECORD = /^<!-- espalier reviewed ([0-9a-f]{40,64})((?: [A-Za-z0-9+/]{22})*) -->$/m

/** The digests that a comment recorded, or `undefined` if it recorded none for this commit. */
export const readReviewRecord = (body: string, commit: string): readonly string[] | undefined => {
  const [, of, digests = ''] = RECORD.exec(body) ?? []
  return of === commit ? digests.split(' ').filter((digest) => digest !== '') : undefined
}

/**
 * Returns one digest for each attribute of an update, and one digest for any other kind of change.
 *
 * The digests do not cover the impact, because a compute may become idle or active in the meantime. They do not cover
 * names, because only ids are unique. They do not cover live values of Postgres settings either, because readers of the
 * comment could guess a value and check the guess against its digest.
 */
const digestsOf = ({ id, kind, project, branch, from, compute, attributes, windows, refused }: Change) => {
  const what = [id, kind, project, branch.id, from?.id, compute.type, compute.id, windows, refused !== undefined]
  const values = attributes.map(({ path, before, after }) => [
    path,
    path.startsWith('postgres.') ? undefined : before,
    after,
  ])
  const parts = kind === 'update' ? values.map((value) => [value]) : [values]
  return parts.map((part) =>
    createHash('sha256')
      .update(JSON.stringify([...what, part]))
      .digest('base64')
      .slice(0, 22),
  )
}

export interface ReviewVerdict {
  readonly reviewed: readonly Change[]
  /** Changes that were not reviewed, and were introduced by the merge or are related to it. */
  readonly differing: readonly Change[]
  /** Changes that were not reviewed, but only correct drift that is unrelated to the merge. */
  readonly unrelated: readonly Change[]
}

/** @param introduced the changes that the merge introduces. If they are unknown, no change counts as unrelated. */
export const judgeReviewed = (
  changes: readonly Change[],
  known: ReadonlySet<string>,
  introduced: Origin['introduced'] = changes,
): ReviewVerdict => {
  const introducedIds = new Set(introduced.map(({ id }) => id))
  const isReviewed = (change: Change): boolean => digestsOf(change).every((digest) => known.has(digest))
  const isRelated = (change: Change): boolean =>
    introducedIds.has(change.id) || digestsOf(change).some((digest) => known.has(digest))
  const others = changes.filter((change) => !isReviewed(change))
  return {
    reviewed: changes.filter(isReviewed),
    differing: others.filter(isRelated),
    unrelated: others.filter((change) => !isRelated(change)),
  }
}
