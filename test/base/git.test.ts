/** No repository can make git run a program, whatever it contains and however it is configured. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { commitOf, fetchCommit, git, parentsOf, remoteCommit } from '../../src/base/index.ts'
import {
  forgetBlob,
  type HostileRepository,
  makeHostileRepository,
  makePartialClone,
  plantBareRepository,
} from '../hostile/repositories.ts'
import { part } from '../long-runs.ts'
import { serve } from '../serve.ts'

afterEach(() => vi.unstubAllEnvs())

/** Every way in which Espalier uses git. */
const askEverything = async (cwd: string, { head }: HostileRepository): Promise<readonly string[]> => {
  const asked = [
    commitOf(cwd, 'HEAD'),
    commitOf(cwd, head),
    commitOf(cwd, '2'.repeat(40)),
    parentsOf(cwd, 'HEAD'),
    git(cwd, ['ls-tree', '-r', '-z', '--end-of-options', 'HEAD', '.']),
    git(cwd, ['cat-file', '--batch'], { input: 'HEAD:espalier.yaml\n' }),
    git(cwd, ['remote', '-v']),
    git(cwd, ['rev-parse', '--show-prefix']),
    remoteCommit(cwd, 'refs/heads/main'),
    fetchCommit(cwd, '3'.repeat(40), 1),
  ]
  const ended = await Promise.allSettled(asked)
  return ended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
}

interface Attack {
  readonly name: string
  readonly plant: (repository: HostileRepository) => unknown
  /** Arguments with which plain git runs the program, to show that the trap works. */
  readonly control: readonly string[]
}

const configure =
  (...pairs: readonly (readonly [name: string, value: (trap: string) => string])[]) =>
  ({ git: own, trap }: HostileRepository): void => {
    for (const [name, value] of pairs) own('config', name, value(trap))
  }

const ATTACKS: readonly Attack[] = [
  {
    name: 'a partial clone that fetches through a command',
    plant: (repository) => {
      makePartialClone(repository)
      forgetBlob(repository, 'espalier.yaml')
    },
    control: ['cat-file', '-p', 'HEAD:espalier.yaml'],
  },
  {
    name: 'a file system monitor',
    plant: configure(['core.fsmonitor', (trap) => trap]),
    control: ['status'],
  },
  {
    name: 'hooks',
    plant: (repository) => {
      for (const hook of ['reference-transaction', 'post-checkout', 'pre-auto-gc']) {
        repository.write(`hooks/${hook}`, `#!/bin/sh\n${repository.trap}\n`)
      }
      repository.git('config', 'core.hooksPath', join(repository.folder, 'hooks'))
    },
    control: ['update-ref', 'refs/heads/other', 'HEAD'],
  },
  {
    name: 'an alias, a pager, an external diff, a textconv and a filter',
    plant: (repository) => {
      repository.write('.gitattributes', '*.yaml diff=evil filter=evil\n')
      configure(
        ['alias.ls-tree', (trap) => `!${trap}`],
        ['alias.evil', (trap) => `!${trap}`],
        ['core.pager', (trap) => trap],
        ['pager.rev-list', (trap) => trap],
        ['diff.external', (trap) => trap],
        ['diff.evil.textconv', (trap) => trap],
        ['filter.evil.smudge', (trap) => trap],
      )(repository)
    },
    control: ['log', '-p', '--no-ext-diff', '--textconv'],
  },
  {
    name: 'a custom ssh command',
    plant: configure(['remote.origin.url', () => 'ssh://git@127.0.0.1:1/x'], ['core.sshCommand', (trap) => trap]),
    control: ['ls-remote', 'origin'],
  },
  {
    name: 'a command as the URL of its origin',
    plant: configure(['remote.origin.url', (trap) => `ext::sh ${trap}`], ['protocol.ext.allow', () => 'always']),
    control: ['ls-remote', 'origin'],
  },
  {
    name: 'a command in place of upload-pack',
    plant: (repository) => {
      repository.git('config', 'remote.origin.url', `file://${repository.folder}`)
      repository.git('config', 'remote.origin.uploadpack', repository.trap)
    },
    control: ['ls-remote', 'origin'],
  },
  {
    name: 'a remote that uses a custom transport',
    plant: configure(
      ['remote.origin.url', (trap) => `sh ${trap}`],
      ['remote.origin.vcs', () => 'ext'],
      ['protocol.ext.allow', () => 'always'],
    ),
    control: ['ls-remote', 'origin'],
  },
  {
    name: 'credential helpers',
    plant: async (repository) => {
      const { port } = await serve((_request, response) => {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      })
      repository.git('config', 'remote.origin.url', `http://127.0.0.1:${port}/x.git`)
      repository.git('config', 'credential.helper', `!${repository.trap}`)
      repository.git('config', `credential.http://127.0.0.1:${port}.helper`, `!${repository.trap}`)
      repository.git('config', 'core.askPass', repository.trap)
    },
    control: ['ls-remote', 'origin'],
  },
  {
    name: 'a command that lists the refs of an alternate object store',
    plant: (repository) => {
      const other = makeHostileRepository()
      repository.write('.git/objects/info/alternates', `${other.folder}/.git/objects\n`)
      repository.git('config', 'remote.origin.url', `file://${other.folder}`)
      repository.git('config', 'core.alternateRefsCommand', repository.trap)
    },
    control: ['fetch', 'origin'],
  },
  {
    name: 'a configuration that is included from the work tree',
    plant: (repository) => {
      repository.write('more.ini', `[core]\n\tfsmonitor = ${repository.trap}\n\tsshCommand = ${repository.trap}\n`)
      repository.git('config', 'include.path', '../more.ini')
      repository.git('config', 'remote.origin.url', 'ssh://git@127.0.0.1:1/x')
    },
    control: ['ls-remote', 'origin'],
  },
]

// promise: git-configuration
test.each(part(ATTACKS, 4))('git runs no program from a repository with $name', async ({ plant, control }) => {
  const repository = makeHostileRepository()
  await plant(repository)
  // Most traps make git fail. Asynchronous, because a server in this process may have to answer.
  await promisify(execFile)('git', control, { cwd: repository.folder }).catch(() => undefined)
  expect(repository.isSprung(), 'the trap does not work').toBe(true)
  await askEverything(repository.folder, repository)
  expect(repository.isSprung()).toBe(false)
})

// hint: Remove it, or fetch everything beforehand (actions/checkout: fetch-depth: 0).
test('once a remote names no program, its commits are fetched', async () => {
  const repository = makeHostileRepository()
  repository.git('config', 'remote.origin.url', `file://${repository.folder}`)
  repository.git('config', 'remote.origin.uploadpack', repository.trap)
  await expect(remoteCommit(repository.folder, 'HEAD')).rejects.toMatchObject({
    hint: expect.stringContaining('Remove it, or fetch everything beforehand'),
  })
  repository.git('config', '--unset', 'remote.origin.uploadpack')
  expect(await remoteCommit(repository.folder, 'HEAD')).toBe(repository.git('rev-parse', 'HEAD'))
})

// promise: bare-repository
test('git runs no program from a bare repository in a commit, and the error names that repository', async () => {
  const repository = makeHostileRepository()
  plantBareRepository(repository, 'db')
  const cwd = join(repository.folder, 'db')
  for (const folder of [cwd, join(cwd, 'refs', 'heads')]) {
    expect(() => repository.git('-C', folder, 'log')).toThrow()
    expect(repository.isSprung(), 'the trap does not work').toBe(true)
    const said = await askEverything(folder, repository)
    expect(repository.isSprung()).toBe(false)
    expect(new Set(said)).toEqual(
      new Set([`EspalierError: ${cwd} is itself a bare git repository, which is not used.`]),
    )
  }
})

test.each([
  ['itself', 'HEAD'],
  ['a branch that does not exist', 'refs/heads/none'],
])('git rejects a folder that looks like a bare repository whose HEAD links to %s', async (_what, target) => {
  const repository = makeHostileRepository()
  plantBareRepository(repository, 'db')
  const cwd = join(repository.folder, 'db')
  rmSync(join(cwd, 'HEAD'))
  symlinkSync(target, join(cwd, 'HEAD'))
  await expect(commitOf(cwd, 'HEAD')).rejects.toThrow(`${cwd} is itself a bare git repository, which is not used.`)
  expect(repository.isSprung()).toBe(false)
})

// promise: bare-repository
test.each<readonly [string, (folder: string) => string]>([
  [
    'whose objects and configuration are in another folder',
    (folder) => {
      renameSync(join(folder, 'db'), join(folder, 'store'))
      mkdirSync(join(folder, 'db'))
      writeFileSync(join(folder, 'db', 'HEAD'), 'ref: refs/heads/main\n')
      writeFileSync(join(folder, 'db', 'commondir'), '../store\n')
      return 'db'
    },
  ],
  [
    'that a link leads into',
    (folder) => {
      symlinkSync('db/objects', join(folder, 'link'))
      return 'link'
    },
  ],
])('git rejects a bare repository %s', async (_what, plant) => {
  const repository = makeHostileRepository()
  plantBareRepository(repository, 'db')
  const cwd = join(repository.folder, plant(repository.folder))
  expect(() => repository.git('-C', cwd, 'log')).toThrow()
  expect(repository.isSprung(), 'the trap does not work').toBe(true)
  const said = await askEverything(cwd, repository)
  expect(repository.isSprung()).toBe(false)
  // Espalier's own check rejects the repository, because git before 2.38 would use it.
  expect(new Set(said)).toEqual(
    new Set([`EspalierError: ${join(repository.folder, 'db')} is itself a bare git repository, which is not used.`]),
  )
})

test("an error shows the line of git's output that names the cause", async () => {
  const { folder } = makeHostileRepository()
  await expect(git(folder, ['ls-remote', 'file:///nowhere'], { isRemote: true })).rejects.toMatchObject({
    message: "git ls-remote failed: fatal: '/nowhere' does not appear to be a git repository",
    hint: expect.stringContaining('Check that the remote can be reached'),
  })
})

test('the error for a missing object says how to fetch it in a shallow and in a partial clone', async () => {
  const repository = makeHostileRepository()
  forgetBlob(repository, 'espalier.yaml')
  await expect(git(repository.folder, ['cat-file', '-p', 'HEAD:espalier.yaml'])).rejects.toMatchObject({
    hint: expect.stringMatching(/git fetch --unshallow .* git fetch --refetch --no-filter origin /),
  })
})

test('a .git that links to itself does not count as a repository', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-loop-'))
  symlinkSync('.git', join(folder, '.git'))
  await expect(commitOf(folder, 'HEAD')).rejects.toThrow(expect.objectContaining({ code: 'E_GIT' }))
})

test('commitOf reports a repository without commits', async () => {
  const repository = makeHostileRepository()
  const folder = mkdtempSync(join(tmpdir(), 'espalier-new-'))
  repository.git('init', '-q', folder)
  await expect(commitOf(folder, 'HEAD')).rejects.toThrow('This repository has no commit yet')
})

test('git works in a folder next to a bare repository', async () => {
  const repository = makeHostileRepository()
  plantBareRepository(repository, 'db')
  repository.write('shop/espalier.yaml', '')
  expect(await commitOf(join(repository.folder, 'shop'), 'HEAD')).toBe(repository.head)
})

test('git works in a separate work tree, whose .git is a file', async () => {
  const repository = makeHostileRepository()
  const folder = join(mkdtempSync(join(tmpdir(), 'espalier-tree-')), 'tree')
  repository.git('worktree', 'add', '-q', '--detach', folder)
  expect(await commitOf(folder, 'HEAD')).toBe(repository.head)
})

// promise: git-environment
test('git inherits no environment variable that names another repository or another program', async () => {
  const [here, other] = [makeHostileRepository(), makeHostileRepository()]
  other.git('commit', '-q', '--allow-empty', '-m', 'another')
  vi.stubEnv('GIT_DIR', join(other.folder, '.git'))
  vi.stubEnv('GIT_WORK_TREE', other.folder)
  vi.stubEnv('GIT_OBJECT_DIRECTORY', join(other.folder, '.git', 'objects'))
  vi.stubEnv('GIT_EXTERNAL_DIFF', here.trap)
  vi.stubEnv('GIT_ASKPASS', here.trap)
  expect(await commitOf(here.folder, 'HEAD')).toBe(here.head)
  expect(here.isSprung()).toBe(false)
})

// promise: git-environment
test('git does not inherit the API key or any other secret from the environment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-bin-'))
  const seen = join(folder, 'seen')
  writeFileSync(join(folder, 'git'), `#!/bin/sh\nenv > ${seen}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  for (const name of ['ESPALIER_API_KEY', 'NEON_API_KEY', 'INPUT_API-KEY', 'DATABASE_URL', 'GITHUB_TOKEN']) {
    vi.stubEnv(name, 'a-secret')
  }
  await git(folder, ['rev-parse', 'HEAD'])
  const said = readFileSync(seen, 'utf8')
  expect(said).toContain('PATH=')
  expect(said).not.toContain('a-secret')
})

test.each([
  [
    'outside a repository',
    (): string => mkdtempSync(join(tmpdir(), 'espalier-none-')),
    /This folder is not in a git repository/,
  ],
  ['in a folder that does not exist', (): string => '/nowhere/at/all', /there is no folder \/nowhere\/at\/all/],
])('commitOf fails %s with a message that says so', async (_where, make, message) => {
  await expect(commitOf(make(), 'HEAD')).rejects.toThrow(message)
})

test.each([
  [
    'fatal: not a git repository (or any parent up to mount point /mnt)',
    'Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).',
    'This folder is not in a git repository',
  ],
  [
    "fatal: detected dubious ownership in repository at '/mnt'",
    '\tgit config --global --add safe.directory /mnt',
    'git does not trust the repository of',
  ],
])('a multi-line git error is recognised by its first line: %s', async (first, last, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-bin-'))
  const script = `#!/bin/sh\ncat >&2 << 'END'\n${first}\n${last}\nEND\nexit 128\n`
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  await expect(git(folder, ['rev-parse', 'HEAD'])).rejects.toThrow(message)
})

test('commitOf reports a missing commit by its name', async () => {
  const repository = makeHostileRepository()
  await expect(commitOf(repository.folder, 'no-such')).rejects.toThrow('There is no commit no-such here.')
  rmSync(join(repository.folder, '.git', 'HEAD'))
  await expect(commitOf(repository.folder, 'no-such')).rejects.toThrow('This folder is not in a git repository')
})
