import { git } from '../../base/index.ts'
import type { Candidate } from './candidate.ts'

const MOST = 200

/** Branches and tags; empty outside a repository. */
export const gitRefs = async (cwd: string): Promise<readonly Candidate[]> => {
  const format = ['for-each-ref', `--count=${MOST}`, '--sort=-committerdate', '--format=%(refname:short)']
  try {
    const answer = await git(cwd, [...format, 'refs/heads', 'refs/remotes', 'refs/tags'])
    return answer
      .toString()
      .trim()
      .split('\n')
      .map((word) => ({ word }))
  } catch {
    return []
  }
}
