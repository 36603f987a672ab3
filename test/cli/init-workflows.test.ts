/** The values that `init` fills into workflows. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workflowsFor } from '../../src/cli/init/files.ts'

const repository = (branch: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-init-'))
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' })
  git('init', '-q', '-b', branch)
  return { folder, git }
}
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

test('workflows pin the Action to the release commit, or to the release tag if the commit is unknown', async () => {
  const { folder } = repository('main')
  const example = readFileSync('examples/workflows/apply.yml', 'utf8')
  expect((await workflowsFor(folder)).apply).toBe(example)
  const commit = 'a'.repeat(40)
  const { apply = '', plan = '' } = await workflowsFor(folder, commit)
  expect(apply.match(new RegExp(`@${commit} # v${version}$`, 'gm'))).toHaveLength(3)
  expect(plan).toContain(`@${commit} # v${version}\n`)
})

test('workflows apply pushes to the default branch of the remote, or to the current branch if there is no remote', async () => {
  const { folder, git } = repository('trunk')
  expect((await workflowsFor(folder)).apply).toContain('branches: ["trunk"]')
  git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/release/next')
  expect((await workflowsFor(folder)).apply).toContain('branches: ["release/next"]')
})
