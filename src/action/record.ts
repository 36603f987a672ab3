/**
 * The hidden record in the comment of a plan: which changes the comment shows, and since when. It contains digests, so
 * that it is short and reveals nothing.
 */
import { createHash } from 'node:crypto'
import { DEFAULT_BASE_URL, parseBaseUrl } from '../api/index.ts'
import { groupBy } from '../base/index.ts'
import type { Change } from '../model/index.ts'
import type { Job } from './job.ts'

/** Times are in seconds since 1970, by GitHub's clock. */
type Times = ReadonlyMap<string, number>

export interface PlanRecord {
  /** The head of the pull request. */
  readonly head: string
  /** The base that the plan was compared with, or `none` if it could not be. */
  readonly base: string
  /** The control plane that was read, and the branch to merge into, as in {@link planeOf}. */
  readonly plane: string
  /** When each digest was first shown for this head. */
  readonly shown: Times
  /** The same for digests that are no longer shown. If one returns, it keeps its time. */
  readonly earlier: Times
}

/**
 * A plan of a sandbox, or of another control plane, is not a review of the live project. Nor is a plan for another branch,
 * which may have other policies: the branch that a pull request is merged into can be changed after its approval.
 */
export const planeOf = ({ inputs: { sandbox, baseUrl }, event: { branch = '' } }: Pick<Job, 'inputs' | 'event'>) =>
  sandbox === ''
    ? createHash('sha256')
        .update(`${parseBaseUrl(baseUrl || DEFAULT_BASE_URL).href} ${branch}`)
        .digest('hex')
        .slice(0, 16)
    : 'sandbox'

const RECORD =
  /^<!-- espalier record 1 ([0-9a-f]{40,64}) ([0-9a-f]{40,64}|none) (sandbox|[0-9a-f]{16})((?: (?:@\d+|[A-Za-z0-9+/]{22}))*) \|((?: (?:@\d+|[A-Za-z0-9+/]{22}))*) -->$/m

/** Reads the record in the text of a comment. */
export const readRecord = (text: string): PlanRecord | undefined => {
  const [, head, base, plane, shown = '', earlier = ''] = RECORD.exec(text) ?? []
  if (head === undefined || base === undefined || plane === undefined) return undefined
  return { head, base, plane, shown: readTimes(shown), earlier: readTimes(earlier) }
}

export const writeRecord = ({ head, base, plane, shown, earlier }: PlanRecord): string =>
  `${['<!-- espalier record 1', head, base, plane, ...writeTimes(shown), '|', ...writeTimes(earlier), '-->'].join(' ')}\n`

/** Each time, followed by the digests that have it. */
const writeTimes = (times: Times): readonly string[] =>
  [...groupBy([...times], ([, time]) => time)].flatMap(([time, own]) => [`@${time}`, ...own.map(([digest]) => digest)])

const readTimes = (words: string): Times => {
  const times = new Map<string, number>()
  let time = 0
  for (const word of words.split(' ').slice(1)) {
    if (word.startsWith('@')) time = Number(word.slice(1))
    else times.set(word, time)
  }
  return times
}

/** More digests than this are forgotten when they are no longer shown. */
const MOST_EARLIER = 200

/**
 * Returns the record of a comment that replaces another one.
 *
 * @param now the time at which the new comment is shown.
 * @param before the record of the comment that is replaced. It must be known that nobody else wrote it.
 */
export const nextRecord = (
  { head, base, plane }: Pick<PlanRecord, 'head' | 'base' | 'plane'>,
  changes: readonly Change[],
  now: number,
  before: PlanRecord | undefined,
): PlanRecord => {
  const isSame = before?.head === head && before.plane === plane
  const known = new Map(isSame ? [...before.earlier, ...before.shown] : [])
  const digests = new Set(changes.flatMap((change) => [change, ...leftOfMove(change)]).flatMap(digestsOf))
  const shown = new Map([...digests].map((digest) => [digest, known.get(digest) ?? now]))
  const earlier = new Map([...known].filter(([digest]) => !digests.has(digest)).slice(-MOST_EARLIER))
  return { head, base, plane, shown, earlier }
}

/** If only the first half of a move was applied, the compute is already on the target branch and an update is left. */
const leftOfMove = ({ from, ...change }: Change): readonly Change[] =>
  from === undefined ? [] : [{ ...change, kind: 'update' }]

/**
 * Returns one digest for each attribute of an update, and one digest for any other kind of change.
 *
 * The digests do not cover the impact, because a compute may become idle or active in the meantime. They do not cover
 * live names and live values of Postgres settings either, because readers of the comment could guess one and check the
 * guess against its digest.
 */
export const digestsOf = ({ id, kind, project, branch, from, compute, attributes, windows, refused }: Change) => {
  const what = [id, kind, project, branch.id, from?.id, compute.type, compute.id, windows, refused !== undefined]
  const values = attributes.map(({ path, before, after }) => [
    path,
    path.startsWith('postgres.') || path === 'name' ? undefined : before,
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
