/** Questions to git that change nothing: neither the work tree nor the index. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { EspalierError } from '../model/index.ts'

/** @throws {EspalierError} `E_GIT` where git is missing or says no. */
export const git = async (cwd: string, args: readonly string[], input?: string): Promise<Buffer> => {
  const child = spawn('git', args, {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    // No prompt for a password, and no program of the repository's own choosing.
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat' },
  })
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [code, said] = await Promise.all([
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
    text(child.stderr),
  ]).catch((cause: unknown) => {
    throw new EspalierError('E_GIT', 'git cannot be started.', { hint: 'Install git, or leave --base out.', cause })
  })
  if (code === 0) return Buffer.concat(parts)
  throw new EspalierError('E_GIT', `git ${args[0]} failed: ${said.trim().split('\n').at(-1) ?? `exit code ${code}`}`, {
    hint: 'In a shallow clone an older commit may be missing: fetch it (actions/checkout: fetch-depth: 0).',
  })
}

/** As git tells it for this ref. @throws {EspalierError} `E_GIT` where there is no such commit. */
export const commitOf = async (cwd: string, ref: string): Promise<string> =>
  (
    await git(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]).catch(
      (cause: unknown) => {
        throw new EspalierError('E_GIT', `There is no commit ${ref} here.`, {
          hint: 'Fetch it first: git fetch origin (actions/checkout: fetch-depth: 0).',
          cause,
        })
      },
    )
  )
    .toString()
    .trim()
