/**
 * Implements the input `pull-request`, which names the pull request to plan. It is for workflows that run for another
 * event, such as the merge of another pull request.
 */
import { parentsOf } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import type { GitHubError } from './github.ts'
import type { Job } from './job.ts'
import { withGitHub } from './with-github.ts'

/**
 * Returns the job as if the pull request had triggered it.
 *
 * @throws {EspalierError} `E_INPUT` if the checked-out commit is not the pull request's merge commit, `E_PULL_REQUEST`
 *   if GitHub could not be read.
 */
export const forNamedPullRequest = async (job: Job): Promise<Job> => {
  const { inputs, event, cwd } = job
  const { pullRequest: number } = inputs
  if (number === undefined || event.pullRequest !== undefined) return job
  if (inputs.githubToken === '') {
    throw new EspalierError('E_INPUT', 'The input pull-request requires the input github-token.', {
      hint: 'Remove the empty value: the default is the token of the job.',
    })
  }
  const reading = {
    warning: `Pull request #${number} could not be read`,
    permission: 'pull-requests: read',
    onRefused: (message: string, cause: GitHubError): never => {
      throw new EspalierError('E_PULL_REQUEST', message, {
        hint: isTemporary(cause) ? 'Run the job again.' : undefined,
        cause,
      })
    },
  }
  const found = await withGitHub(job, reading, (github) => github.pullRequest(number))
  if (found === undefined) {
    throw new EspalierError(
      'E_INPUT',
      `${event.repository} has no pull request #${number}, or the job cannot read it.`,
      {
        hint: 'Check the number. The job needs the permission `pull-requests: read`.',
      },
    )
  }
  const [baseSha, headSha] = await parentsOf(cwd, 'HEAD')
  if (baseSha === undefined || headSha !== found.headSha) {
    throw new EspalierError('E_INPUT', `The checked-out commit is not the merge of pull request #${number}.`, {
      hint: `Check out with \`ref: refs/pull/${number}/merge\` and \`fetch-depth: 2\`. A pull request with conflicts has no merge commit.`,
    })
  }
  return { ...job, event: { ...event, sha: headSha, pullRequest: { ...found, baseSha } } }
}

const isTemporary = ({ status }: GitHubError): boolean => status === 429 || (status !== undefined && status >= 500)
