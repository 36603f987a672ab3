/** Git repositories that try to run a program. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NOWHERE = '1'.repeat(40)

export interface HostileRepository {
  readonly folder: string
  /** The checked-out commit. */
  readonly head: string
  /** A shell command that creates a file, so that a test can see whether it ran. */
  readonly trap: string
  readonly git: (...args: readonly string[]) => string
  readonly write: (file: string, content: string) => void
  /** Whether the command ran since the last call. */
  readonly isSprung: () => boolean
}

export const makeHostileRepository = (): HostileRepository => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-hostile-'))
  const trace = join(mkdtempSync(join(tmpdir(), 'espalier-trace-')), 'sprung')
  const script = join(folder, 'trap.sh')
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  const write = (file: string, content: string): void => {
    const path = join(folder, file)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, content, { mode: 0o755 })
  }
  git('init', '-q', '-b', 'main')
  write('trap.sh', `#!/bin/sh\ntouch ${trace}\n`)
  write('espalier.yaml', 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 1 } } }\n')
  git('add', '.')
  // Prints the whole id, so that no other process has to find it.
  const said = git('-c', 'core.abbrev=40', 'commit', '-m', 'base')
  return {
    folder,
    head: /\b[0-9a-f]{40}\b/.exec(said)?.[0] ?? '',
    trap: script,
    git,
    write,
    isSprung: () => {
      const is = existsSync(trace)
      rmSync(trace, { force: true })
      return is
    },
  }
}

/** A bare repository as plain files in `below`. Its only commit is missing, and git would run a command to fetch it. */
export const plantBareRepository = ({ write, trap }: HostileRepository, below: string): void => {
  write(`${below}/HEAD`, 'ref: refs/heads/main\n')
  write(`${below}/refs/heads/main`, `${NOWHERE}\n`)
  write(`${below}/objects/.keep`, '')
  write(`${below}/espalier.yaml`, 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 1 } } }\n')
  write(
    `${below}/config`,
    `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n` +
      `[remote "origin"]\n\turl = ext::sh ${trap}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n`,
  )
}

/** Turns the repository into a partial clone that runs a command to fetch missing objects. */
export const makePartialClone = ({ git, trap }: HostileRepository): void => {
  git('config', 'core.repositoryformatversion', '1')
  git('config', 'extensions.partialClone', 'evil')
  git('config', 'remote.evil.promisor', 'true')
  git('config', 'remote.evil.url', `ext::sh ${trap}`)
  git('config', 'protocol.ext.allow', 'always')
}

/** Removes the blob of a file in the checked-out commit, as if it had never been fetched. */
export const forgetBlob = ({ git, folder }: HostileRepository, file: string): void => {
  const id = git('rev-parse', `HEAD:${file}`)
  rmSync(join(folder, '.git/objects', id.slice(0, 2), id.slice(2)), { force: true })
}
