/** One comment for each plan of a pull request, edited in place. */
import { createHash } from 'node:crypto'
import { shardText } from '../model/index.ts'
import { type GitHub, isSameLogin } from './github.ts'
import type { Inputs } from './inputs.ts'

export type CommentKind = 'plan' | 'outcome'

/**
 * Which of several plans it is: by its label, or if it has none by what it is made of. Two steps of one workflow then
 * have a comment each, unless they differ in nothing but the key.
 */
export const identityOf = ({ label, paths, baseUrl, command, planFile, shard }: Inputs, prefix: string): string =>
  JSON.stringify([
    prefix,
    label !== '' ? { label } : command === 'merge' ? { merge: planFile } : { paths, baseUrl },
    shard === undefined ? null : shardText(shard),
  ])

/** The comment's first line. Names are in it as a digest, so that none of them can close it. */
export const markerOf = (kind: CommentKind, identity: string): string => {
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  return `<!-- espalier ${kind} ${digest} -->`
}

/** What the token's own comments are signed with; workflow tokens belong to this app. */
const WORKFLOW_LOGIN = 'github-actions[bot]'

export interface UpsertOptions {
  /** Only where there is a comment already. */
  readonly onlyUpdate?: boolean
  /** Which run of the workflow this is; empty if that is not known. */
  readonly run?: string
}

export interface Upserted {
  readonly url: string
  /** Another step of this very run had written it. */
  readonly isTakenOver: boolean
}

/** What {@link upsertComment} adds to a body at most. */
export const COMMENT_OVERHEAD = 128

/**
 * Edits the newest comment that begins with this marker and is the token's own, or makes one. Older ones with this marker
 * show what is no longer true, so they are deleted. Nobody else's comment is touched, whatever it begins with.
 *
 * @returns `undefined` if there was no comment and none was wanted.
 * @throws {GitHubError}
 */
export const upsertComment = async (
  github: GitHub,
  issue: number,
  marker: string,
  body: string,
  { onlyUpdate = false, run = '' }: UpsertOptions = {},
): Promise<Upserted | undefined> => {
  const login = (await github.identity()) ?? WORKFLOW_LOGIN
  const own = (await github.comments(issue))
    .filter((comment) => comment.body.startsWith(marker) && isSameLogin(comment.login, login))
    .sort((a, b) => b.id - a.id)
  const signature = run === '' ? '' : `<!-- espalier run ${run} -->`
  const signed = `${body}${signature}`
  for (const [index, { id, body: before, url }] of own.entries()) {
    const isTakenOver = run !== '' && before.trimEnd().endsWith(signature)
    const isSaid = before.replace(SIGNATURE, '').trimEnd() === body.trimEnd()
    const kept = isSaid ? { url } : await github.updateComment(id, signed)
    // It was deleted in between: the next one, or a new one, takes its place.
    if (kept === undefined) continue
    for (const old of own.slice(index + 1)) await github.deleteComment(old.id)
    return { url: kept.url, isTakenOver }
  }
  if (onlyUpdate && own.length === 0) return undefined
  return { url: (await github.createComment(issue, signed)).url, isTakenOver: false }
}

/** The comment's last line: which run wrote it. */
const SIGNATURE = /<!-- espalier run [^>]* -->\s*$/
