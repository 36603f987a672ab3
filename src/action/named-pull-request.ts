/** Plans a pull request given as input, in a workflow for another event, such as the merge of another pull request. */
import { parentsOf } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import type { Job } from './job.ts'
import { withGitHub } from './with-github.ts'

/**
 * The job, as if triggered by the pull request.
 *
 * @throws {EspalierError} `E_INPUT` if the checked-out commit is not the pull request's merge commit.
 */
export const forNamedPullRequest = async (job: Job): Promise<Job> => {
  const { inputs, event, cwd } = job
  const { pullRequest: number } = inputs
  if (number === undefined || event.pullRequest !== undefined) return job
  const reading = { warning: `Pull request #${number} could not be read`, permission: 'pull-requests: read' }
  const found = await withGitHub(job, reading, (github) => github.pullRequest(number))
  const [baseSha, headSha] = await parentsOf(cwd, 'HEAD')
  if (found === undefined || baseSha === undefined || headSha !== found.headSha) {
    throw new EspalierError('E_INPUT', `The checked-out commit is not the merge of pull request #${number}.`, {
      hint: `Check out with \`ref: refs/pull/${number}/merge\` and \`fetch-depth: 2\`. A pull request with conflicts has no merge commit.`,
    })
  }
  return { ...job, event: { ...event, sha: headSha, pullRequest: { ...found, baseSha } } }
}
