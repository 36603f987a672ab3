/** One comment for each plan of a pull request, edited in place. */
import { createHash } from 'node:crypto'
import { shardText } from '../model/index.ts'
import type { Comment, GitHub } from './github.ts'
import type { Inputs } from './inputs.ts'

export type CommentKind = 'plan' | 'outcome'

/**
 * Which of several plans it is: by its label, or if it has none by what it is made of. Two steps of one workflow then
 * have a comment each, unless they differ in nothing but the key.
 */
export const identityOf = (
  { label, paths, baseUrl, command, planFile, shard, project }: Inputs,
  prefix: string,
): string =>
  JSON.stringify([
    prefix,
    label !== '' ? { label } : command === 'merge' ? { merge: planFile } : { paths, baseUrl },
    shard === undefined ? null : shardText(shard),
    ...(project.length === 0 ? [] : [{ project }]),
  ])

/** The comment's first line. Names are in it as a digest, so that none of them can close it. */
export const markerOf = (kind: CommentKind, identity: string): string => {
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  return `<!-- espalier ${kind} ${digest} -->`
}

/** What the token's own comments are signed with; workflow tokens belong to this app. */
export const WORKFLOW_LOGIN = 'github-actions[bot]'

export interface UpsertOptions {
  /** Only where there is a comment already. */
  readonly onlyUpdate?: boolean
  /** Which run of the workflow this is; empty if that is not known. */
  readonly run?: string
  readonly mode?: Inputs['commentMode']
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
 * show what is no longer true, so they are deleted. In the other modes the newest comment of the pull request says it, and
 * the one before is deleted or folded. Nobody else's comment is touched, whatever it begins with.
 *
 * @returns `undefined` if there was no comment and none was wanted.
 * @throws {GitHubError}
 */
export const upsertComment = async (
  github: GitHub,
  issue: number,
  marker: string,
  body: string,
  { onlyUpdate = false, run = '', mode = 'edit' }: UpsertOptions = {},
): Promise<Upserted | undefined> => {
  const login = (await github.identity()) ?? WORKFLOW_LOGIN
  const own = (await github.comments(issue))
    .filter((comment) => comment.body.startsWith(marker) && comment.login === login)
    .sort((a, b) => b.id - a.id)
  const signature = run === '' ? '' : `<!-- espalier run ${run} -->`
  const signed = `${body}${signature}`
  const isOfThisRun = ({ body: before }: Comment): boolean => run !== '' && before.trimEnd().endsWith(signature)
  const [newest] = own
  if (mode !== 'edit' && newest !== undefined && planOf(newest.body) !== planOf(body)) {
    const { url } = await github.createComment(issue, signed)
    if (mode === 'minimize') await github.minimizeComment(newest.nodeId)
    else for (const { id } of own) await github.deleteComment(id)
    return { url, isTakenOver: isOfThisRun(newest) }
  }
  for (const [index, comment] of own.entries()) {
    const isSaid = comment.body.replace(SIGNATURE, '').trimEnd() === body.trimEnd()
    const kept = isSaid ? comment : await github.updateComment(comment.id, signed)
    // It was deleted in between: the next one, or a new one, takes its place.
    if (kept === undefined) continue
    // Folded ones are a history that was asked for.
    const old = mode === 'minimize' ? [] : own.slice(index + 1)
    for (const { id } of old) await github.deleteComment(id)
    return { url: kept.url, isTakenOver: isOfThisRun(comment) }
  }
  if (onlyUpdate && own.length === 0) return undefined
  return { url: (await github.createComment(issue, signed)).url, isTakenOver: false }
}

/** Without its commit and time, which are worth no new comment. */
const planOf = (body: string): string =>
  body.replace(/^<sub>.*$|<!-- espalier (run|reviewed) [^>]* -->/gm, '').trimEnd()

/** The comment's last line: which run wrote it. */
const SIGNATURE = /<!-- espalier run [^>]* -->\s*$/
