/** After a bad migration, the compute moves to a branch made before it. The application only loses its connection. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parseSeed } from '../../src/sandbox/index.ts'
import { espalier } from '../e2e/espalier.ts'
import { clientAt, clientOf, environmentOf, withReal } from '../e2e/real-computes.ts'

const EXAMPLE = 'examples/restore'
const COMPUTE = 'ep-safe-haven-b0000001'

test('restoring by moving a compute keeps the connection string and brings back the older data', async () => {
  const seed = parseSeed(await readFile(`${EXAMPLE}/seed.yaml`, 'utf8'), 'seed.yaml')
  // The branch from before the migration is created below, once there is data.
  const projects = seed.projects.map((project) => ({ ...project, branches: project.branches.slice(0, 1) }))
  const sandbox = await withReal({ seed: { projects } })
  const [compute] = await sandbox.control.computes()
  const uri = compute?.uri ?? ''

  const application = await clientAt(uri)
  await application.query(`CREATE TABLE ledger AS SELECT id, id * 10 AS amount FROM generate_series(1, 1000) AS id`)
  await makeBranch(sandbox.apiUrl, sandbox.apiKey, compute?.branchId ?? '')
  await application.query('UPDATE ledger SET amount = 0')
  await application.query('DROP TABLE IF EXISTS audit')
  expect(await application.query('SELECT sum(amount)::int AS total FROM ledger')).toEqual([{ total: 0 }])

  const planned = await espalier(['plan', `${EXAMPLE}/espalier.yaml`], environmentOf(sandbox))
  expect(planned.stdout).toContain('moves')
  const refused = await espalier(['apply', `${EXAMPLE}/espalier.yaml`, '--auto-approve'], environmentOf(sandbox))
  expect(refused.code, 'a move is not covered by a plain yes').toBe(3)
  expect(application.endedWith).toBeUndefined()
  const applied = await espalier(
    ['apply', `${EXAMPLE}/espalier.yaml`, '--auto-approve', '--allow', 'move'],
    environmentOf(sandbox),
  )
  expect(applied.code, applied.stdout + applied.stderr).toBe(0)

  await application.dropped
  expect(application.endedWith).toBe('57P01')
  const again = await clientAt(uri)
  expect(await again.query('SELECT sum(amount)::int AS total FROM ledger')).toEqual([{ total: 5_005_000 }])
  expect((await sandbox.control.computes()).map(({ id, branchName }) => [id, branchName])).toEqual([
    [COMPUTE, 'before-migration'],
  ])
  await again.close()

  // The damaged data is kept for analysis, with a separate compute.
  const inquest = await fetch(`${sandbox.apiUrl}/projects/quick-otter-40000001/endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: { branch_id: compute?.branchId, type: 'read_write' } }),
  })
  const { endpoint } = (await inquest.json()) as { endpoint: { id: string } }
  const damaged = await clientOf(sandbox, endpoint.id)
  expect(await damaged.query('SELECT sum(amount)::int AS total FROM ledger')).toEqual([{ total: 0 }])
  await damaged.close()
})

const makeBranch = async (apiUrl: string, apiKey: string, parent: string): Promise<void> => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const path = `${apiUrl}/projects/quick-otter-40000001`
  const made = await fetch(`${path}/branches`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ branch: { name: 'before-migration', parent_id: parent } }),
  })
  const { operations } = (await made.json()) as { operations: readonly { id: string }[] }
  await expect
    .poll(async () => {
      const answer = await fetch(`${path}/operations/${operations[0]?.id}`, { headers })
      return ((await answer.json()) as { operation: { status: string } }).operation.status
    })
    .toBe('finished')
}
