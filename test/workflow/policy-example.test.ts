/** What the Rego of examples/policy reads is in the JSON that Espalier writes. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { jsonPlan } from '../../src/apply/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { plan } from '../../src/planner/index.ts'
import { startInProcess } from '../in-process.ts'
import { world } from '../planner/world.ts'

const FOLDER = 'examples/policy'

test('plan.rego reads keys that a plan has, and `windows` is absent without a window', () => {
  const text = readFileSync(`${FOLDER}/espalier.yaml`, 'utf8').replace('size: 1', 'size: { min: 1, max: 8 }')
  const { desired } = parseManifests([{ path: 'espalier.yaml', text }])
  const { plan: made } = plan(desired, world({ main: { primary: { size: 1 } } }))
  const { steps, changes } = JSON.parse(jsonPlan(made))
  const restart = steps.find(({ kind }: { kind: string }) => kind === 'update')
  expect(restart).toMatchObject({ branch: { name: 'main' }, impact: 'restart' })
  expect(restart).not.toHaveProperty('windows')
  const sizes = changes.flatMap(({ attributes }: { attributes: readonly { path: string; after: unknown }[] }) =>
    attributes.filter(({ path }) => path === 'size').map(({ after }) => after),
  )
  expect(sizes).toContainEqual({ min: 1, max: 8 })
})

test('resolved.rego reads keys that resolved manifests have', async () => {
  const { stdout, code } = await startInProcess(['show', '--resolved', 'espalier.yaml', '--format', 'json'], {
    cwd: FOLDER,
  }).ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    documents: [
      {
        project: 'quiet-river-12345678',
        branches: {
          main: {
            primary: { attributes: { size: { value: 1 } } },
            replicas: { reports: { attributes: { size: { value: 2 } } } },
          },
        },
      },
    ],
  })
})
