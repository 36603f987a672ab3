/** Questions to git that change nothing: neither the work tree nor the index. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { EspalierError, withoutSecrets } from '../model/index.ts'

/** What a tree of any size that is meant lists in; one that is built to be endless ends here. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** @throws {EspalierError} `E_GIT` where git is missing, says no, or says more than 64 MiB. */
export const git = async (cwd: string, args: readonly string[], input?: string): Promise<Buffer> => {
  const child = spawn('git', args, {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    // No prompt for a password, and no program of the repository's own choosing.
    env: { ...withoutSecrets(process.env), GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat' },
  })
  const parts: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > MAX_OUTPUT_BYTES) child.kill()
    else parts.push(part)
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [code, said] = await Promise.all([
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
    text(child.stderr),
  ]).catch((cause: unknown) => {
    throw new EspalierError('E_GIT', 'git cannot be started.', { hint: 'Install git, or leave --base out.', cause })
  })
  if (bytes > MAX_OUTPUT_BYTES) {
    throw new EspalierError('E_GIT', `git ${args[0]} says more than 64 MiB.`, {
      hint: 'Keep manifests in a folder of their own, and name it as the working directory.',
    })
  }
  if (code === 0) return Buffer.concat(parts)
  throw new EspalierError('E_GIT', `git ${args[0]} failed: ${said.trim().split('\n').at(-1) ?? `exit code ${code}`}`, {
    hint: 'In a shallow clone an older commit may be missing: fetch it (actions/checkout: fetch-depth: 0).',
  })
}

/** As git tells it for this ref. @throws {EspalierError} `E_GIT` where there is no such commit. */
export const commitOf = async (cwd: string, ref: string): Promise<string> =>
  (
    await git(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]).catch(
      async (cause: unknown) => {
        await assertRepository(cwd)
        throw new EspalierError('E_GIT', `There is no commit ${ref} here.`, {
          hint: 'Fetch it first: git fetch origin (actions/checkout: fetch-depth: 0).',
          cause,
        })
      },
    )
  )
    .toString()
    .trim()

const assertRepository = async (cwd: string): Promise<void> => {
  await git(cwd, ['rev-parse', '--git-dir']).catch((cause: unknown) => {
    throw new EspalierError('E_GIT', 'This folder is not in a git repository, so there is nothing to compare with.', {
      hint: 'Run it in the repository of the manifests. `espalier plan` without --base needs no git.',
      cause,
    })
  })
}

/**
 * Fetches a commit that may be missing, and nothing that would turn a whole clone into a shallow one.
 *
 * @param depth how many commits of its history are needed where the clone is shallow.
 * @throws {EspalierError} `E_GIT` where origin has no such commit, or will not say.
 */
export const fetchCommit = async (cwd: string, sha: string, depth: number): Promise<void> => {
  const isShallow = (await git(cwd, ['rev-parse', '--is-shallow-repository'])).toString().trim() === 'true'
  const limit = isShallow ? [`--depth=${depth}`] : []
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
  await git(cwd, ['fetch', ...quiet, ...limit, '--end-of-options', 'origin', sha])
}

/** The commit's parents, the first one first. */
export const parentsOf = async (cwd: string, ref: string): Promise<readonly string[]> => {
  const line = (await git(cwd, ['rev-list', '--parents', '-n', '1', '--end-of-options', ref])).toString().trim()
  return line.split(' ').slice(1)
}
