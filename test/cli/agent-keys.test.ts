import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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

test.each([
  [undefined, 'The key list keys.yaml was not found.'],
  ['', 'keys.yaml:1:1: the file: must be a list'],
  ['[]', 'keys.yaml:1:1: the file: must have at least 1 item'],
  ['- name: a\n  keyFile: k\n  paths: [x, "{"]', 'keys.yaml:3:14: [0].paths[1]: is not a valid glob'],
  ['- name: a\n  name: b', 'keys.yaml:2:3: The key `name` is already set on line 1.'],
])('the list %j is rejected with: %s', async (text, message) => {
  await expect(keysIn(text)).rejects.toMatchObject({ code: 'E_KEY', message: expect.stringContaining(message) })
})
