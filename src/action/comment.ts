/** One comment a pull request and working directory, edited in place. */
import { createHash } from 'node:crypto'
import type { GitHub } from './github.ts'

/** The comment's first line. The folder is in it as a digest, so that no folder's name can close it. */
export const markerOf = (kind: 'plan' | 'outcome', workingDirectory: string): string => {
  const digest = createHash('sha256').update(workingDirectory).digest('hex').slice(0, 16)
  return `<!-- espalier ${kind} ${digest} -->`
}

/** What the token's own comments are signed with; workflow tokens belong to this app. */
const WORKFLOW_LOGIN = 'github-actions[bot]'

export interface UpsertOptions {
  /** Only where there is a comment already. */
  readonly onlyUpdate?: boolean
}

/**
 * Edits the comment that begins with this marker and is the token's own, or makes one. Nobody else's comment is edited,
 * whatever it begins with.
 *
 * @returns the comment's address; `undefined` where there was none and none was wanted.
 * @throws {GitHubError}
 */
export const upsertComment = async (
  github: GitHub,
  issue: number,
  marker: string,
  body: string,
  options: UpsertOptions = {},
): Promise<string | undefined> => {
  const login = (await github.identity()) ?? WORKFLOW_LOGIN
  const own = (await github.comments(issue)).filter(
    (comment) => comment.body.startsWith(marker) && isSame(comment.login, login),
  )
  for (const { id, body: before, url } of own) {
    if (before === body) return url
    const updated = await github.updateComment(id, body)
    // It was deleted in between: the next one, or a new one, takes its place.
    if (updated !== undefined) return updated.url
  }
  if (options.onlyUpdate === true && own.length === 0) return undefined
  return (await github.createComment(issue, body)).url
}

/** An app is called `name` in one API and `name[bot]` in the other. */
const isSame = (a: string, b: string): boolean => a.replace(/\[bot\]$/, '') === b.replace(/\[bot\]$/, '')
