import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findKey } from '../../src/cli/key.ts'

const from = (env: Readonly<Record<string, string>>) => ({ env, locate: (path: string) => path })

test.each([
  [{ ESPALIER_API_KEY: 'one', NEON_API_KEY: 'two' }, 'one'],
  [{ NEON_API_KEY: 'two' }, 'two'],
  [{ ESPALIER_API_KEY: ' ', NEON_API_KEY: 'two\n' }, 'two'],
])('the key comes from the environment, ours first: %j', async (env, key) => {
  expect(await findKey(undefined, from(env))).toBe(key)
})

test('a key file beats the environment and may end with a line break', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'espalier-key-')), 'key')
  await writeFile(file, 'from-file\n')
  expect(await findKey(file, from({ ESPALIER_API_KEY: 'one' }))).toBe('from-file')
})

test('without a key all three ways to give one are told', async () => {
  await expect(findKey(undefined, from({}))).rejects.toMatchObject({
    code: 'E_KEY',
    hint: expect.stringMatching(/ESPALIER_API_KEY.*NEON_API_KEY.*--api-key-file/),
  })
})

test('a key that no header can carry is refused without being shown', async () => {
  const error: unknown = await findKey(undefined, from({ ESPALIER_API_KEY: 'se cret' })).catch(
    (thrown: unknown) => thrown,
  )
  expect(String(error)).toContain('holds a space')
  expect(String(error)).not.toContain('cret')
})
