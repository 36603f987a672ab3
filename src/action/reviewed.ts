/**
 * What the reviewers of a pull request were shown, as digests in the plan's comment. Each is of what a change does, so it
 * can be recomputed: a record that was tampered with cannot make another change pass for a reviewed one unnoticed.
 */
import { createHash } from 'node:crypto'
import type { Change, Origin } from '../model/index.ts'

/** More changes than this are not recorded: the comment has to hold the plan as well. */
const MOST_RECORDED = 1_000

/** The hidden end of a plan's comment; empty if there are too many changes. @param commit the pull request's head. */
export const reviewRecord = (changes: readonly Change[], commit: string): string => {
  const digests = changes.flatMap((change) => [change, ...leftOfMove(change)]).flatMap(digestsOf)
  return digests.length > MOST_RECORDED ? '' : `${['<!-- espalier reviewed', commit, ...digests].join(' ')} -->\n`
}

/** What is left to do of a move once the compute is on its branch. */
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
 * The impact is left out, since a compute may fall asleep or wake up, and names, since only ids are certain. So is the
 * live value of a Postgres setting: whoever reads the comment could find it by trying.
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
  /** Not shown to the reviewers, and the merge introduces it or it concerns what it introduces. */
  readonly differing: readonly Change[]
  /** Not shown either, but unrelated: the live project has drifted since. */
  readonly unrelated: readonly Change[]
}

/** @param introduced what the merge introduces; `undefined` if that is not known, and then nothing is unrelated. */
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
