/** The folder of a sandbox's Postgres servers. */
import { mkdtemp, readFile, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../../src/sandbox/computes/postgres/home.ts'
import { POSTGRES_BIN } from '../e2e/real-computes.ts'

test("the superuser's password is written once, since a failed write would lose the data", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-home-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'password')
  const passwordOf = async (): Promise<string> => {
    const home = await openHome({ folder, bin: POSTGRES_BIN })
    await home.close()
    return home.password
  }
  const password = await passwordOf()
  expect(password).toBe(await readFile(file, 'utf8'))
  const writtenAt = new Date(0)
  await utimes(file, writtenAt, writtenAt)
  expect(await passwordOf()).toBe(password)
  expect((await stat(file)).mtime).toEqual(writtenAt)
})
