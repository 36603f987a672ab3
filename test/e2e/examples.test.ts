import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { espalier } from './espalier.ts'

/** Every example does what its manifest declares, and its next plan is empty. All run in the embedded sandbox. */
const EXAMPLES = [
  ['quickstart', 'examples/quickstart', 'Plan: 1 to create, 3 to update, 0 to delete.', []],
  ['fleet', 'examples/fleet/projects', 'Plan: 2 to create, 3 to update, 1 to delete.', ['delete']],
  ['preview-branches', 'examples/preview-branches/espalier.yaml', 'Plan: 1 to create, 2 to update, 0 to delete.', []],
  ['restore', 'examples/restore/espalier.yaml', 'Plan: 0 to create, 0 to update, 1 to move, 0 to delete.', ['move']],
] as const

test.each(EXAMPLES)(
  'the example %s can be planned and applied, and its next plan is empty',
  async (name, manifests, line, allow) => {
    const state = await mkdtemp(join(tmpdir(), 'espalier-example-'))
    const sandbox = [`--sandbox=${state}`, '--seed', `examples/${name}/seed.yaml`, '--time-scale', '20']
    const planned = await espalier(['plan', manifests, '--detailed-exitcode', ...sandbox])
    expect(planned, planned.stderr).toMatchObject({ code: 2, stdout: expect.stringContaining(line) })
    const allowed = allow.flatMap((consent) => ['--allow', consent])
    const applied = await espalier(['apply', manifests, '--auto-approve', ...allowed, ...sandbox])
    expect(applied.code, applied.stdout + applied.stderr).toBe(0)
    const after = await espalier(['plan', manifests, '--detailed-exitcode', ...sandbox])
    expect(after, after.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') })
  },
)

test('a compute that moves to the restored branch keeps its host', async () => {
  const state = await mkdtemp(join(tmpdir(), 'espalier-example-'))
  const sandbox = [`--sandbox=${state}`, '--seed', 'examples/restore/seed.yaml', '--time-scale', '20']
  const { stdout } = await espalier(['plan', 'examples/restore/espalier.yaml', '--format', 'json', ...sandbox])
  const [change] = JSON.parse(stdout).changes
  expect(change).toMatchObject({
    kind: 'move',
    impact: 'move',
    from: { name: 'main' },
    branch: { name: 'before-migration' },
    compute: { id: 'ep-safe-haven-b0000001', host: expect.stringMatching(/^ep-safe-haven-b0000001\./) },
  })
})

test('plan reports that --seed was ignored because the sandbox already exists', async () => {
  const state = await mkdtemp(join(tmpdir(), 'espalier-example-'))
  const plan = (name: string) =>
    espalier(['plan', `examples/${name}/espalier.yaml`, `--sandbox=${state}`, '--seed', `examples/${name}/seed.yaml`])
  expect((await plan('restore')).stderr).toBe('')
  expect((await plan('quickstart')).stderr).toContain('--seed was ignored')
})

test('every example is in canonical format', async () => {
  const { code, stdout } = await espalier(['fmt', '--check', '--diff', 'examples'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
})
