import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Secret } from '../../src/agent/index.ts'
import { readAgentKeys } from '../../src/cli/commands/agent-run.ts'
import type { Io } from '../../src/cli/setup/io.ts'

const keysIn = async (text: string | undefined) => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-keys-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  if (text !== undefined) await writeFile(join(folder, 'keys.yaml'), text)
  return readAgentKeys('keys.yaml', { locate: (path: string) => join(folder, path) } as Io)
}

test('a list of keys is read', async () => {
  const [key] = await keysIn('- name: team-a\n  keyFile: /run/a\n  projects: [team-a-*]\n')
  expect(key).toMatchObject({ name: 'team-a', projects: ['team-a-*'] })
})

// hint: Write a list of { name, keyFile, projects: [GLOB], paths: [GLOB], account }.
test.each([
  [undefined, 'The key list keys.yaml was not found.'],
  ['', 'keys.yaml:1:1: the file: must be a list'],
  ['[]', 'keys.yaml:1:1: the file: must have at least 1 item'],
  ['- name: a\n  keyFile: k\n  paths: [x, "{"]', 'keys.yaml:3:14: [0].paths[1]: is not a valid glob'],
  ['- name: a\n  name: b', 'keys.yaml:2:3: The key `name` is already set on line 1.'],
])('the list %j is rejected with: %s', async (text, message) => {
  await expect(keysIn(text)).rejects.toMatchObject({ code: 'E_KEY', message: expect.stringContaining(message) })
  const suggested = '[{ name: a, keyFile: k, projects: ["*"], paths: ["x/*"], account: acme }]'
  expect(await keysIn(suggested)).toMatchObject([{ name: 'a', account: 'acme' }])
})

const SHORT = 'its file has fewer than 16 characters.'
test.each<[string, string | undefined, string]>([
  ['replaced', 'napi_0123456789abcdef', 'The key team-a was replaced.'],
  ['empty', '\n', 'The key team-a stays as it was: The key file key is empty.'],
  ['short', 'napi_0123', `The key team-a stays as it was: ${SHORT}`],
  ['not a key', 'napi_0123 456789abcdef', 'The key team-a stays as it was: The API key contains a space'],
  ['gone', undefined, 'The key team-a stays as it was: The key file key cannot be read'],
])('a key file that is %s, by a rename or in place, is noticed, and reported once', async (_how, text, line) => {
  for (const isRenamed of [true, false]) {
    const folder = await mkdtemp(join(tmpdir(), 'espalier-keys-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'keys.yaml'), '- { name: team-a, keyFile: key }')
    const file = join(folder, 'key')
    await writeFile(file, 'napi_before_012345\n', { mode: 0o600 })
    const [key] = await readAgentKeys('keys.yaml', { locate: (path: string) => join(folder, path) } as Io)
    if (key === undefined) throw new Error('no key')
    const secret = new Secret('The key team-a', await key.read(), key.read)
    const lines: string[] = []
    const reread = () => secret.reread((one) => lines.push(one))
    expect(await reread()).toBe(false)
    if (text === undefined) await rm(file)
    else if (isRenamed) {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    } else await writeFile(file, text)
    const isReplaced = line.endsWith('was replaced.')
    expect(await reread()).toBe(isReplaced)
    expect(await reread()).toBe(false)
    expect(lines).toEqual([expect.stringContaining(line)])
    expect(secret.text).toBe(isReplaced ? text : 'napi_before_012345')
  }
})
