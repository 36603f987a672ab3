/** The workflows that `init` writes. They are the examples, adapted to the repository and to this release. */
import { git } from '../../base/index.ts'
import { RELEASE_COMMIT } from '../../base/version.ts'
import { REPOSITORY } from '../../model/index.ts'
import files from './generated/workflows.json' with { type: 'json' }

const { policy, ...workflows } = files

/** A policy file with limits on what the workflows apply. */
export const POLICY_EXAMPLE = policy

/** @returns the contents of the workflow files, by name. */
export const workflowsFor = async (
  cwd: string,
  commit: string | undefined = RELEASE_COMMIT,
): Promise<Readonly<Record<string, string>>> => {
  const branch = await defaultBranch(cwd)
  const fill = (text: string): string => onBranch(pinned(text, commit), branch)
  return Object.fromEntries(Object.entries(workflows).map(([name, text]) => [name, fill(text)]))
}

/** Pins the Action to a commit if this is known, because a tag can be moved. */
const pinned = (text: string, commit: string | undefined): string =>
  commit === undefined ? text : text.replaceAll(new RegExp(`(${REPOSITORY}@)(v\\S+)`, 'g'), `$1${commit} # $2`)

/** Replaces `main` in the examples by the default branch of the repository. */
const onBranch = (text: string, branch: string): string =>
  branch === 'main' ? text : text.replaceAll('branches: [main]', () => `branches: [${JSON.stringify(branch)}]`)

/** The default branch of the remote, or the current branch if the remote's default branch is not known. */
const defaultBranch = async (cwd: string): Promise<string> => {
  const ask = (...args: readonly string[]): Promise<string> =>
    git(cwd, args).then(
      (answer) => answer.toString().trim(),
      () => '',
    )
  const remote = await ask('symbolic-ref', '--short', 'refs/remotes/origin/HEAD')
  return remote.replace(/^origin\//, '') || (await ask('symbolic-ref', '--short', 'HEAD')) || 'main'
}
