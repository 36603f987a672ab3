/** Manifests and policies of a commit: an unreadable file must not count as a missing one. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manifestsAt } from '../../src/workflow/index.ts'
import { makeRepository, type Repository } from '../action/run-action.ts'
import { part } from '../long-runs.ts'

const MANIFEST = 'version: 1\nproject: shop\nbranches: { main: { protect: true, primary: { size: 1 } } }\n'
const policy = (name: string): string =>
  `version: 1\npolicies:\n  - { name: ${name}, level: deny, reason: r, rule: { maxSize: 1 } }\n`

const repository = (): Repository => {
  const made = makeRepository()
  for (const folder of ['espalier', 'envs', 'vendor']) mkdirSync(join(made.folder, folder))
  made.write('espalier/shop.yaml', MANIFEST)
  made.write('espalier.policy.yaml', policy('small'))
  made.write('envs/policy.yaml', policy('tiny'))
  return made
}

const link = (from: string, to: string) => (made: Repository) => {
  renameSync(join(made.folder, from), join(made.folder, 'vendor', 'moved'))
  symlinkSync(to, join(made.folder, from))
}

const submodule = (path: string) => (made: Repository) => {
  renameSync(join(made.folder, path), join(made.folder, '.git', 'moved'))
  made.git('rm', '-r', '-q', '--cached', '--ignore-unmatch', path)
  made.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},${path}`)
  mkdirSync(join(made.folder, path))
}

const CLOSED = [
  ['the policy file is a link', 'espalier.policy.yaml', link('espalier.policy.yaml', 'vendor/moved')],
  ['a named policy file is behind a link', 'envs', link('envs', 'vendor/moved')],
  ['the manifests are behind a link', 'espalier', link('espalier', 'vendor/moved')],
  ['the manifests are in a submodule', 'espalier', submodule('espalier')],
  ['a policy file is in a submodule', 'envs', submodule('envs')],
] as const

const WHAT = { paths: ['espalier'], policyPaths: ['envs/policy.yaml'] }

/** The error is thrown, or reported with `missing: report`. */
const expectReported = async (made: Repository, path: string): Promise<void> => {
  const { loaded } = await manifestsAt('HEAD', WHAT, { cwd: made.folder, missing: 'report' })
  expect(loaded.diagnostics).toContainEqual(
    expect.objectContaining({ code: 'E_OUTSIDE', severity: 'error', source: expect.objectContaining({ file: path }) }),
  )
}

// promise: links-on-base
// hint: Replace it with a copy of the file.
test.each(part(CLOSED, 2))('manifestsAt rejects a commit in which %s', async (_case, path, change) => {
  const made = repository()
  made.commit('plain')
  const plain = await manifestsAt('HEAD', WHAT, { cwd: made.folder })
  expect(plain.review?.policies?.policies.map(({ name }) => name).toSorted()).toEqual(['small', 'tiny'])
  change(made)
  made.commit('not plain')
  await expect(manifestsAt('HEAD', WHAT, { cwd: made.folder })).rejects.toMatchObject({
    code: 'E_OUTSIDE',
    message: `At HEAD, ${path} is a link or a submodule. Only regular files are read from a commit.`,
    hint: expect.stringContaining('Replace it with a copy of the file.'),
  })
  await expectReported(made, path)
  made.git('rm', '-r', '-q', '--cached', path)
  rmSync(join(made.folder, path), { recursive: true })
  const moved = ['vendor/moved', '.git/moved'].map((one) => join(made.folder, one)).find((one) => existsSync(one))
  cpSync(moved ?? '', join(made.folder, path), { recursive: true })
  made.commit('copied')
  const { review } = await manifestsAt('HEAD', WHAT, { cwd: made.folder })
  expect(review?.policies?.policies).toHaveLength(2)
})

// promise: links-on-base
test('a submodule in a folder of manifests is reported', async () => {
  const made = repository()
  mkdirSync(join(made.folder, 'espalier/team'))
  submodule('espalier/team')(made)
  made.commit('not plain')
  await expectReported(made, 'espalier/team')
})

test('symlinks and submodules at paths that are not manifests are ignored', async () => {
  const made = repository()
  symlinkSync('/etc', join(made.folder, 'elsewhere'))
  submodule('vendor')(made)
  made.commit('plain manifests')
  const { loaded } = await manifestsAt('HEAD', WHAT, { cwd: made.folder })
  expect(loaded.diagnostics).toEqual([])
  expect(loaded.desired.documents).toHaveLength(1)
})

// hint: Keep manifests in a separate folder, and name it as the working directory.
test('a file that cannot be written to disk does not matter outside the folder of the manifests', async () => {
  const made = repository()
  made.commit('first')
  made.git(
    'update-index',
    '--add',
    '--cacheinfo',
    `100644,${made.git('rev-parse', 'HEAD:espalier.policy.yaml')},a\\b.yaml`,
  )
  made.git('commit', '-qm', 'second')
  await expect(manifestsAt('HEAD', { paths: ['.'] }, { cwd: made.folder })).rejects.toMatchObject({
    code: 'E_GIT',
    hint: expect.stringContaining('a separate folder'),
  })
  const { loaded } = await manifestsAt('HEAD', { paths: ['.'] }, { cwd: join(made.folder, 'espalier') })
  expect(loaded.desired.documents).toHaveLength(1)
})

// hint: Fetch them: git fetch --refetch --no-filter origin (actions/checkout: without filter and sparse-checkout).
test('the files that a partial clone lacks can be fetched', async () => {
  const made = repository()
  made.commit('first')
  made.git('config', 'uploadpack.allowFilter', 'true')
  const cwd = join(made.folder, 'clone')
  made.git('clone', '-q', '--no-checkout', '--filter=blob:none', `file://${made.folder}`, cwd)
  const read = () => manifestsAt('HEAD', { paths: ['espalier'] }, { cwd })
  await expect(read()).rejects.toMatchObject({
    hint: expect.stringContaining('git fetch --refetch --no-filter origin'),
  })
  made.git('-C', cwd, 'fetch', '-q', '--refetch', '--no-filter', 'origin')
  expect((await read()).loaded.desired.documents).toHaveLength(1)
})
