import { type GitHub, GitHubError, openGitHub } from './github.ts'
import type { Job } from './job.ts'

/**
 * For everything but the comment, a refusal by GitHub does not fail the job: it is a warning that names the permission.
 *
 * @param what text of the warning.
 * @returns `undefined` if GitHub refused, or there is no token.
 */
export const withGitHub = async <T>(
  { env, inputs, event, runner }: Job,
  what: string,
  permission: string,
  use: (github: GitHub) => Promise<T>,
): Promise<T | undefined> => {
  if (inputs.githubToken === '') {
    runner.warning(`${what}: the input github-token is empty.`)
    return undefined
  }
  const github = openGitHub(env, inputs.githubToken, event.repository)
  try {
    return await use(github)
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error
    const hint = error.status === 403 || error.status === 404 ? ` The job needs the permission \`${permission}\`.` : ''
    runner.warning(`${what}. ${error.message}${hint}`)
    return undefined
  } finally {
    await github.close()
  }
}
