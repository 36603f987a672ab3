import { type GitHub, GitHubError, openGitHub } from './github.ts'
import type { Job } from './job.ts'

export interface GitHubUse {
  /** The warning to show if GitHub rejects the request, such as `No comment was made`. */
  readonly warning: string
  /** The permission that is most likely missing after a 403 or 404. */
  readonly permission: string
  /** Called instead of showing the warning. */
  readonly onRefused?: (message: string, cause: GitHubError) => void
}

/**
 * Calls GitHub. By default, a request that GitHub rejects does not fail the job. It causes a warning, which names the
 * permission that is probably missing.
 *
 * @returns `undefined` if GitHub rejected a request, or there is no token.
 */
export const withGitHub = async <T>(
  { env, inputs, event, runner }: Job,
  { warning, permission, onRefused = (message) => runner.warning(message) }: GitHubUse,
  use: (github: GitHub) => Promise<T>,
): Promise<T | undefined> => {
  if (inputs.githubToken === '') {
    runner.warning(`${warning}: the input github-token is empty.`)
    return undefined
  }
  const github = openGitHub(env, inputs.githubToken, event.repository)
  try {
    return await use(github)
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error
    const hint = error.status === 403 || error.status === 404 ? ` The job needs the permission \`${permission}\`.` : ''
    onRefused(`${warning}. ${error.message}${hint}`, error)
    return undefined
  } finally {
    await github.close()
  }
}
