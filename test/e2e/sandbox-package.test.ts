/** `espalier/sandbox` as an application has it: built, and with the types that are published. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { manualClock, startSandbox } from 'espalier/sandbox'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT } from './espalier.ts'
import { POSTGRES_BIN } from './real-computes.ts'

const run = promisify(execFile)
const SEED = { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ size: 1 }] }] }] }

test('an application that imports it is checked by its types, without any of our sources', async () => {
  const folder = mkdtempSync(join(ROOT, 'test', 'types-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'application.ts')
  const check = () =>
    run(process.execPath, [
      ...['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'],
      ...['--ignoreConfig', '--types', 'node', file],
    ])
  writeFileSync(
    file,
    `import { startSandbox, type Branch } from 'espalier/sandbox'
     const sandbox = await startSandbox({ computes: 'postgres', seed: ${JSON.stringify(SEED)} })
     const branch: Branch = await sandbox.createBranch({ parent: 'main' })
     process.env.DATABASE_URL = branch.connectionString
     await branch.delete()
     await sandbox.close()\n`,
  )
  await expect(check()).resolves.toBeDefined()
  writeFileSync(file, `import { startSandbox } from 'espalier/sandbox'\nawait startSandbox({ computes: 'oracle' })\n`)
  await expect(check()).rejects.toMatchObject({ stdout: expect.stringContaining('oracle') })
})

test('a branch is made of another one, connects, and is gone after it', async () => {
  const sandbox = await startSandbox({ computes: { kind: 'postgres', bin: POSTGRES_BIN ?? '' }, seed: SEED })
  onTestFinished(() => sandbox.close())
  expect(await sandbox.connectionString('main')).toMatch(/^postgresql:\/\/neondb_owner:\w+@127\.0\.0\.1:\d+\/neondb$/)
  const branch = await sandbox.createBranch({ name: 'dev', parent: 'main' })
  expect(await sandbox.connectionString('dev')).toBe(branch.connectionString)
  await branch.delete()
  await expect(sandbox.connectionString('dev')).rejects.toMatchObject({ code: 'E_NO_COMPUTE' })
  await expect(sandbox.createBranch({ parent: 'nobody' })).rejects.toThrow('There is no branch nobody')
})

test('simulated, on a clock that the test moves', async () => {
  const clock = manualClock()
  const sandbox = await startSandbox({ seed: SEED, clock })
  onTestFinished(() => sandbox.close())
  const branch = await sandbox.createBranch()
  expect(branch.name).toMatch(/^test-/)
  await expect(sandbox.connectionString('main')).rejects.toMatchObject({ code: 'E_SIMULATED' })
  await expect(sandbox.connectionString('nobody')).rejects.toMatchObject({ code: 'E_NO_COMPUTE' })
  await branch.delete()
})
