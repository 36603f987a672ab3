/** Channel binding to the proxy's certificate, as the service's own command-line tool requests it. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ScramClient, ScramServer } from '../../src/sandbox/computes/proxy/scram.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { clientAt, openReal } from '../e2e/real-computes.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await openReal({
    seed: {
      projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', scaleToZero: 'never' }] }] }],
    },
  })
})
afterAll(() => sandbox.close())

const uri = async (): Promise<string> => (await sandbox.control.computes())[0]?.uri ?? ''
const bound = { ssl: { rejectUnauthorized: false }, enableChannelBinding: true }

test('clients can log in with and without channel binding', async () => {
  for (const extra of [bound, { ssl: { rejectUnauthorized: false } }, {}]) {
    const client = await clientAt(await uri(), extra)
    expect(await client.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
    await client.close()
  }
})

test.each([
  ['a wrong password', (text: string) => text.replace(/:[^:@]+@/, ':wrong@'), '28P01'],
  ['a role that does not exist', (text: string) => text.replace(/\/\/[^:]+:/, '//nobody:'), '28P01'],
  ['a database that does not exist', (text: string) => text.replace(/\/[^/?]+(\?|$)/, '/nowhere$1'), '3D000'],
])("%s is rejected with Postgres' own error", async (_what, change, code) => {
  await expect(clientAt(change(await uri()), bound)).rejects.toMatchObject({ code })
})

test('a login with channel binding accepts a password that SQL set', async () => {
  const client = await clientAt(await uri())
  await client.query(`CREATE ROLE by_sql LOGIN PASSWORD 'first'`)
  await client.query(`ALTER ROLE by_sql PASSWORD 'second'`)
  const as = async (password: string) => (await uri()).replace(/\/\/[^@]+@/, `//by_sql:${password}@`)
  await expect(clientAt(await as('first'), bound)).rejects.toMatchObject({ code: '28P01' })
  await (await clientAt(await as('second'), bound)).close()
  await client.close()
})

const psql = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'psql'))
  .find(existsSync)
test.runIf(psql !== undefined)(
  'psql connects with channel_binding=require to the host name that the API returns (skipped without psql)',
  async () => {
    const { searchParams, username, password, pathname } = new URL(await uri())
    expect(searchParams.size).toBe(0)
    const [compute] = await sandbox.control.computes()
    const { stdout } = await promisify(execFile)(
      psql ?? '',
      [
        `postgresql://${username}:${password}@ep-main.eu-central-1.aws.neon.tech${pathname}?sslmode=require&channel_binding=require`,
        '-Atc',
        'SELECT 42',
      ],
      { env: { PATH: process.env.PATH, PGHOSTADDR: '127.0.0.1', PGPORT: String(compute?.address?.sharedPort) } },
    )
    expect(stdout.trim()).toBe('42')
  },
)

// promise: channel-binding
test('a login that is bound to another certificate, or to none, is rejected', () => {
  const secret = {
    iterations: '4096',
    salt: 'c2FsdA==',
    storedKey: Buffer.alloc(32, 1),
    serverKey: Buffer.alloc(32, 2),
  }
  const client = new ScramClient()
  const server = new ScramServer(secret, client.first.slice('n,,'.length), Buffer.from('certificate'))
  expect(server.accept(client.final(server.first, Buffer.alloc(32, 3)))).toBeUndefined()
  expect(server.accept('')).toBeUndefined()
  expect(server.accept('c=,r=,p=')).toBeUndefined()
})
