/** Completions offered at TAB. */
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { complete } from '../../src/cli/completion/complete.ts'
import { type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { fakeIo } from '../in-process.ts'

const words = async (line: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
  const { io } = fakeIo({ cwd: tmpdir(), env: { HOME: '/nowhere', ...env } })
  return (await complete(line.split(' '), io)).map(({ word }) => word)
}

test.each([
  ['sta', ['status']],
  ['operations w', ['wait', 'watch']],
  ['status --wat', ['--watch']],
  ['status -o w', ['wide']],
  ['plan --format j', ['json']],
  ['apply --allow re', ['restart', 'replace']],
  ['apply --allow move,re', ['move,restart', 'move,replace']],
  ['explain E_SCALE', ['E_SCALE_TO_ZERO_SIZE']],
  ['completion z', ['zsh']],
  ['plan --out ', []],
  ['plan espalier', []],
])('espalier %s is completed with %j', async (line, offered) => {
  expect(await words(line)).toEqual(offered)
})

const SEED: Seed = {
  projects: [
    {
      id: 'amber-field-2',
      name: 'billing',
      branches: [
        { name: 'main', computes: [{ id: 'ep-main' }, { id: 'ep-bi', type: 'read_only', name: 'bi' }] },
        { name: 'x$(touch pwned)', computes: [{ id: 'ep-hostile' }] },
      ],
    },
  ],
}

// promise: completed-names
test('live names are read once, cached for the owner only, and then completed without the network', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'espalier-cache-'))
  const sandbox = await startSandbox({ seed: SEED })
  onTestFinished(() => sandbox.close())
  const env = { XDG_CACHE_HOME: cache, ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey }
  expect(await words('status --project am', env)).toEqual(['amber-field-2'])
  expect(await words('compute restart --project amber-field-2 main', env)).toEqual(['main', 'main/bi'])
  const asked = sandbox.requests
  expect(await words('operations list --project amber-field-2 --branch ', env)).toEqual(['main'])
  expect(sandbox.requests).toBe(asked)
  const folder = join(cache, 'espalier')
  for (const name of await readdir(folder)) {
    expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
    expect(name + (await readFile(join(folder, name), 'utf8'))).not.toContain(sandbox.apiKey)
  }
})

test('a service that does not respond does not delay the second completion', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'espalier-cache-'))
  const env = { XDG_CACHE_HOME: cache, ESPALIER_BASE_URL: 'http://127.0.0.1:9/api/v2', ESPALIER_API_KEY: 'a-key' }
  expect(await words('status --project ', env)).toEqual([])
  const began = performance.now()
  expect(await words('status --project ', env)).toEqual([])
  expect(performance.now() - began).toBeLessThan(500)
})
