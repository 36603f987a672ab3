/** The built `espalier/sandbox`, as an application uses it. package.test.ts checks its types. */
import { manualClock, startSandbox } from 'espalier/sandbox'
import { expect, onTestFinished, test } from 'vitest'
import { POSTGRES_BIN } from '../e2e/real-computes.ts'

const SEED = { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ size: 1 }] }] }] }

test('a branch is created from another branch, accepts connections, and is deleted', async () => {
  const sandbox = await startSandbox({ computes: { kind: 'postgres', bin: POSTGRES_BIN ?? '' }, seed: SEED })
  onTestFinished(() => sandbox.close())
  expect(await sandbox.connectionString('main')).toMatch(/^postgresql:\/\/neondb_owner:\w+@127\.0\.0\.1:\d+\/neondb$/)
  const branch = await sandbox.createBranch({ name: 'dev', parent: 'main' })
  expect(await sandbox.connectionString('dev')).toBe(branch.connectionString)
  await branch.delete()
  await expect(sandbox.connectionString('dev')).rejects.toMatchObject({ code: 'E_NO_COMPUTE' })
  await expect(sandbox.createBranch({ parent: 'nobody' })).rejects.toThrow('There is no branch nobody')
})

test('a simulated sandbox creates branches on a manual clock, but has no connection strings', async () => {
  const clock = manualClock()
  const sandbox = await startSandbox({ seed: SEED, clock })
  onTestFinished(() => sandbox.close())
  const branch = await sandbox.createBranch()
  expect(branch.name).toMatch(/^test-/)
  await expect(sandbox.connectionString('main')).rejects.toMatchObject({ code: 'E_NO_SANDBOX' })
  await expect(sandbox.connectionString('nobody')).rejects.toMatchObject({ code: 'E_NO_COMPUTE' })
  await branch.delete()
})
