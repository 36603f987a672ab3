import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { espalier, ROOT } from './espalier.ts'

/** Runs commands beside a copy of the example, where the sandbox made from its seed keeps its state. */
const sandboxFrom = async (name: string) => {
  const cwd = await mkdtemp(join(tmpdir(), 'espalier-example-'))
  await cp(join(ROOT, 'examples', name), join(cwd, 'examples', name), { recursive: true })
  const flag = `--sandbox=examples/${name}/seed.yaml`
  return (...args: readonly string[]) => espalier([...args, flag], { ESPALIER_SANDBOX_TIME_SCALE: '20' }, cwd)
}

/** Every example does what its manifest declares, and its next plan is empty. All run in the embedded sandbox. */
const EXAMPLES = [
  ['quickstart', 'examples/quickstart', 'Plan: 1 to create, 3 to update.', []],
  ['fleet', 'examples/fleet/projects', 'Plan: 2 to create, 3 to update, 1 to delete.', ['delete']],
  ['preview-branches', 'examples/preview-branches/espalier.yaml', 'Plan: 1 to create, 2 to update.', []],
  ['restore', 'examples/restore/espalier.yaml', 'Plan: 1 to move.', ['move']],
] as const

test.each(EXAMPLES)(
  'the example %s can be planned and applied, and its next plan is empty',
  async (name, manifests, line, allow) => {
    const inSandbox = await sandboxFrom(name)
    const planned = await inSandbox('plan', manifests, '--detailed-exitcode')
    expect(planned, planned.stderr).toMatchObject({ code: 2, stdout: expect.stringContaining(line) })
    const allowed = allow.flatMap((consent) => ['--allow', consent])
    const applied = await inSandbox('apply', manifests, '--auto-approve', ...allowed)
    expect(applied.code, applied.stdout + applied.stderr).toBe(0)
    const after = await inSandbox('plan', manifests, '--detailed-exitcode')
    expect(after, after.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') })
  },
)

test('a compute that moves to the restored branch keeps its host', async () => {
  const inSandbox = await sandboxFrom('restore')
  const { stdout } = await inSandbox('plan', 'examples/restore/espalier.yaml', '--format', 'json')
  const [change] = JSON.parse(stdout).changes
  expect(change).toMatchObject({
    kind: 'move',
    impact: 'move',
    from: { name: 'main' },
    branch: { name: 'before-migration' },
    compute: { id: 'ep-safe-haven-b0000001', host: expect.stringMatching(/^ep-safe-haven-b0000001\./) },
  })
})

test('every example is in canonical format', async () => {
  const { code, stdout } = await espalier(['fmt', '--check', 'examples'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
})
