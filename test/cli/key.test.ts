import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { findKey } from '../../src/cli/setup/key.ts'

afterEach(() => vi.restoreAllMocks())

const from = (env: Readonly<Record<string, string>>) => ({
  env,
  locate: (path: string) => path,
  stderr: new PassThrough(),
})

test.each([
  [{ ESPALIER_API_KEY: 'one', NEON_API_KEY: 'two' }, 'one'],
  [{ NEON_API_KEY: 'two' }, 'two'],
  [{ ESPALIER_API_KEY: ' ', NEON_API_KEY: 'two\n' }, 'two'],
])('findKey reads the environment and prefers ESPALIER_API_KEY: %j', async (env, key) => {
  expect(await findKey(undefined, from(env))).toBe(key)
})

test('a key file takes precedence over the environment and may end with a newline', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'espalier-key-')), 'key')
  await writeFile(file, 'from-file\n')
  expect(await findKey(file, from({ ESPALIER_API_KEY: 'one' }))).toBe('from-file')
})

// promise: key-file
test.runIf(process.platform !== 'win32').each([
  [0o600, 'own', 0],
  [0o400, 'own', 0],
  [0o640, 'own', 1],
  [0o604, 'own', 1],
  [0o666, 'own', 1],
  [0o640, "another user's", 0],
  [0o660, "another user's", 1],
  [0o644, "another user's", 1],
])('a key file of mode %o (%s) causes %d warnings', async (mode, whose, count) => {
  const file = join(await mkdtemp(join(tmpdir(), 'espalier-key-')), 'key')
  await writeFile(file, 'from-file\n')
  await chmod(file, mode)
  const uid = process.getuid?.() ?? 0
  vi.spyOn(process as Required<NodeJS.Process>, 'getuid').mockReturnValue(whose === 'own' ? uid : uid + 1)
  const io = from({})
  expect(await findKey(file, io)).toBe('from-file')
  const warned = String(io.stderr.read() ?? '')
  expect(warned.match(/^warning/gm) ?? []).toHaveLength(count)
  expect(warned).not.toContain('from-file')
})

test('a missing key is reported with all three ways to provide one', async () => {
  await expect(findKey(undefined, from({}))).rejects.toMatchObject({
    code: 'E_KEY',
    hint: expect.stringMatching(/ESPALIER_API_KEY.*NEON_API_KEY.*--api-key-file/),
  })
})

// hint: Write the key to a file, and give the path of the file.
test('a key that is given in place of the path of its file is not printed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-key-'))
  const key = `napi_${'k3y'.repeat(20)}`
  const error: unknown = await findKey(join(folder, key), from({})).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'E_KEY' })
  expect(inspect(error, { depth: 9 })).not.toContain('k3y')
  await writeFile(join(folder, 'key'), key, { mode: 0o600 })
  expect(await findKey(join(folder, 'key'), from({}))).toBe(key)
})

test('a key that is not a valid header value is rejected and not printed', async () => {
  const error: unknown = await findKey(undefined, from({ ESPALIER_API_KEY: 'se cret' })).catch(
    (thrown: unknown) => thrown,
  )
  expect(String(error)).toContain('contains a space')
  expect(String(error)).not.toContain('cret')
})
