/** The folder of a sandbox's Postgres servers. */
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../../src/sandbox/computes/postgres/home.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { POSTGRES_BIN } from '../e2e/real-computes.ts'

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-home-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

// hint: Set the folder of Postgres … with --pg-bin, or delete … to start with empty databases.
test('data of a Postgres version that is not installed is reported, and its folder can be deleted', async () => {
  const folder = await newFolder()
  const branch = join(folder, 'branches', 'br-main')
  await mkdir(branch, { recursive: true })
  await writeFile(join(branch, 'PG_VERSION'), '9\n')
  await expect(openHome({ folder, bin: POSTGRES_BIN })).rejects.toMatchObject({
    code: 'E_SANDBOX_STATE',
    hint: expect.stringContaining(`or delete ${folder} to`),
  })
  await rm(folder, { recursive: true })
  await (await openHome({ folder, bin: POSTGRES_BIN })).close()
})

test("the superuser's password is written once, since a failed write would lose the data", async () => {
  const folder = await newFolder()
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

// hint: Use --computes simulated, or the Windows Subsystem for Linux.
test('on Windows, computes can be simulated', async () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {}
  onTestFinished(() => void Object.defineProperty(process, 'platform', platform))
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
  await expect(openHome({})).rejects.toMatchObject({ hint: expect.stringContaining('--computes simulated') })
  await (await startSandbox()).close()
})
