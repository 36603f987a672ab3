import { git } from '../../base/index.ts'

const MOST = 200

/** The names of branches and tags. Empty outside a repository. */
export const gitRefs = async (cwd: string): Promise<readonly string[]> => {
  const format = ['for-each-ref', `--count=${MOST}`, '--sort=-committerdate', '--format=%(refname:short)']
  try {
    return (await git(cwd, [...format, 'refs/heads', 'refs/remotes', 'refs/tags'])).toString().trim().split('\n')
  } catch {
    return []
  }
}
