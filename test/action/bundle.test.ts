/** The committed bundle as a process. The other tests of the Action run its source. */
import { expect, test } from 'vitest'
import { longTest } from '../long-runs.ts'
import { manifest, merged, open, withHead } from './action-world.ts'
import { runBundle } from './run-action.ts'

const inputsFor = ({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }) => ({
  'base-url': apiUrl,
  'api-key': apiKey,
})

longTest('the bundle plans a pull request, comments on it and applies it after the merge', async () => {
  const { repository, github, sandbox, event } = await withHead()
  const common = { repository, github }
  const planned = await runBundle({ ...common, inputs: { ...inputsFor(sandbox), command: 'plan' }, event })
  expect(planned.code, planned.log).toBe(0)
  expect(planned.outputs).toMatchObject({ restarts: '4', drifted: '3', 'failure-reason': '' })
  expect(planned.summary).toContain('### Espalier: 4 computes restart')
  const inputs = { ...inputsFor(sandbox), command: 'apply', 'plan-file': planned.outputs['plan-path'] ?? '' }
  const applied = await runBundle({ ...common, inputs, event: merged(event) })
  expect(applied.code, applied.log).toBe(0)
  expect(github.comments.map(({ body }) => body)).toEqual([
    expect.stringContaining('### Espalier: 4 computes restart'),
    expect.stringContaining('### Espalier: everything is applied: 4 done'),
  ])
})

test('the bundle contains the sandbox and exits with code 1 on errors', async () => {
  const { repository } = await open()
  repository.write('seed.yaml', 'projects: [{ id: shop, branches: [{ name: main, computes: [{ size: 2 }] }] }]\n')
  repository.write('espalier.yaml', manifest({ main: 4 }))
  const inputs = { command: 'plan', sandbox: 'seed.yaml' }
  expect(await runBundle({ repository, inputs })).toMatchObject({ code: 0, outputs: { restarts: '1' } })
  const failed = await runBundle({ repository, inputs: { ...inputs, 'working-directory': 'nowhere' } })
  expect(failed).toMatchObject({ code: 1, outputs: { 'failure-reason': 'input' } })
})
