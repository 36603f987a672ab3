/** Tests an application against the sandbox. Each test has a Postgres branch of its own. */
import { type Sandbox, startSandbox } from 'espalier/sandbox'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({ computes: 'postgres', seed: new URL('seed.yaml', import.meta.url).pathname })
  // Create the initial state for all tests. A real application would run its migrations at this point.
  await query(await sandbox.connectionString('main'), 'CREATE TABLE books (title text PRIMARY KEY)')
})
afterAll(() => sandbox.close())

const query = async (connectionString: string, sql: string) => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a book is added', async () => {
  const branch = await sandbox.createBranch()
  await query(branch.connectionString, "INSERT INTO books VALUES ('Middlemarch')")
  expect(await query(branch.connectionString, 'TABLE books')).toEqual([{ title: 'Middlemarch' }])
  await branch.delete()
})

test('a book added in another test is not visible', async () => {
  const branch = await sandbox.createBranch({ parent: 'main' })
  expect(await query(branch.connectionString, 'TABLE books')).toEqual([])
  await branch.delete()
})
