/** Writes the comments on a pull request, one for each of its plans. */
import { createHash } from 'node:crypto'
import { COMMENT_LIMIT } from '../report/index.ts'
import type { Comment, GitHub } from './github.ts'
import type { Inputs } from './inputs.ts'

export type CommentKind = 'plan' | 'outcome'

/**
 * The first line of the comment. It identifies the plan by its label, or by the step's inputs if there is no label.
 * Two steps of a workflow therefore have separate comments, unless they differ only in their API keys. The line
 * contains a digest instead of names, because a name could end the HTML comment.
 */
export const markerOf = (
  kind: CommentKind,
  { inputs: { label, paths, baseUrl, project }, prefix }: { readonly inputs: Inputs; readonly prefix: string },
): string => {
  const identity = JSON.stringify([
    prefix,
    label !== '' ? { label } : { paths, baseUrl },
    ...(project.length === 0 ? [] : [{ project }]),
  ])
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  return `<!-- espalier ${kind} ${digest} -->`
}

/** The author of a comment that was posted with a workflow token. */
export const WORKFLOW_LOGIN = 'github-actions[bot]'

export interface CommentDraft {
  readonly marker: string
  /** @param before the text of the comment that is replaced, if it is certain that nobody else wrote it. */
  readonly body: (before: string | undefined) => string
  /** Whether to update an existing comment but never create one. */
  readonly onlyUpdate: boolean
  /** Whether people must be notified of the text. An edit notifies nobody, so it is written as a new comment. */
  readonly mustNotify?: (text: string) => Promise<boolean>
  /** Identifies the workflow run and the command. Empty if unknown. */
  readonly run: string
}

/** Maximum number of characters that {@link upsertComment} adds to a body. */
export const COMMENT_OVERHEAD = 256

/**
 * Edits the newest comment with this marker, or creates one if there is none. Older comments are out of date and are
 * deleted. Changes only comments by the token's own account.
 *
 * @returns `undefined` if there was no comment to update. `isTakenOver` means that another step of the same run wrote
 *   the comment that was replaced.
 * @throws {GitHubError}
 */
export const upsertComment = async (
  github: GitHub,
  issue: number,
  { marker, body, onlyUpdate, run, mustNotify }: CommentDraft,
): Promise<{ readonly url: string; readonly isTakenOver: boolean } | undefined> => {
  const login = (await github.identity()) ?? WORKFLOW_LOGIN
  const own = (await github.comments(issue))
    .filter((comment) => comment.body.startsWith(marker) && comment.login === login)
    .sort((a, b) => b.id - a.id)
  const signature = run === '' ? '' : `<!-- espalier run ${run} -->`
  const [newest] = own
  const proven = newest && (await github.provenText(newest.nodeId))
  const text = body(proven?.editor === undefined ? proven?.body : undefined)
  const signed = `${text}${signature}`
  const isOfThisRun = ({ body: before }: Comment): boolean => run !== '' && before.trimEnd().endsWith(signature)
  if (newest !== undefined && (await mustNotify?.(text)) === true) {
    const { url } = await github.createComment(issue, signed)
    await github.updateComment(newest.id, folded(newest.body, url))
    for (const { id } of own.slice(1)) await github.deleteComment(id)
    return { url, isTakenOver: isOfThisRun(newest) }
  }
  for (const [index, comment] of own.entries()) {
    const isUnchanged = comment.body.replace(SIGNATURE, '').trimEnd() === text.trimEnd()
    const kept = isUnchanged ? comment : await github.updateComment(comment.id, signed)
    // The comment has since been deleted. Use the next one, or create a new one.
    if (kept === undefined) continue
    for (const { id } of own.slice(index + 1)) await github.deleteComment(id)
    return { url: kept.url, isTakenOver: isOfThisRun(comment) }
  }
  if (onlyUpdate && own.length === 0) return undefined
  return { url: (await github.createComment(issue, signed)).url, isTakenOver: false }
}

/** What is left of a comment that was replaced by a new one. It has no marker and no record. */
const folded = (body: string, url: string): string => {
  const note = `The plan has changed since it was approved: see [the new comment](${url}).\n`
  const whole = `${note}\n<details><summary>The earlier plan</summary>\n\n${body.replace(/^<!-- espalier .*$/gm, '')}\n</details>\n`
  return whole.length > COMMENT_LIMIT.most ? note : whole
}

/** The comment's last line, which names the run. */
const SIGNATURE = /<!-- espalier run [^>]* -->\s*$/
