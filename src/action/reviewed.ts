/** Records the changes that the reviewers of a pull request saw, as digests in the plan's comment. */
import { createHash } from 'node:crypto'
import type { Change, Origin } from '../model/index.ts'

/** With more changes, nothing is recorded, since the comment must have room for the plan. */
const MOST_RECORDED = 1_000

/** The hidden record at the end of a plan's comment; empty if there are too many changes. @param commit the head. */
export const reviewRecord = (changes: readonly Change[], commit: string): string => {
  const digests = changes.flatMap((change) => [change, ...leftOfMove(change)]).flatMap(digestsOf)
  return digests.length > MOST_RECORDED ? '' : `${['<!-- espalier reviewed', commit, ...digests].join(' ')} -->\n`
}

/** A move whose compute is already on the target branch continues as an update. */
const leftOfMove = ({ from, ...change }: Change): readonly Change[] =>
  from === undefined ? [] : [{ ...change, kind: 'update' }]

const RECORD = /^<!-- espalier reviewed ([0-9a-f]{40,64})((?: [A-Za-z0-9+/]{22})*) -->$/m

/** The digests in a comment; `undefined` if it has none for this commit. */
export const readReviewRecord = (body: string, commit: string): readonly string[] | undefined => {
  const [, of, digests = ''] = RECORD.exec(body) ?? []
  return of === commit ? digests.split(' ').filter((digest) => digest !== '') : undefined
}

/**
 * One digest for each attribute of an update, and one for each other change.
 *
 * They exclude the impact, since a compute may become idle or active, and names, since only ids are unique. They also
 * exclude live values of Postgres settings, which readers of the comment could guess from a digest.
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
  /** Not reviewed, and introduced by the merge or related to it. */
  readonly differing: readonly Change[]
  /** Not reviewed, but drift that is unrelated to the merge. */
  readonly unrelated: readonly Change[]
}

/** @param introduced changes that the merge introduces; if unknown, no change counts as unrelated. */
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
