/** Completions offered at TAB. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete } from '../../src/cli/completion/complete.ts'
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

describe('names', () => {
  let cwd: string
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'espalier-completion-'))
    await mkdir(join(cwd, 'espalier'))
    const primary = '{ primary: { id: ep-main-12345678, size: 1 }, replicas: { bi: {} } }'
    await writeFile(
      join(cwd, 'espalier/billing.yaml'),
      `version: 1\nproject: amber-field-2\nbranches:\n  main: ${primary}\n  'x$(touch pwned)': { replicas: { etl: {} } }\n`,
    )
    const shop = 'version: 1\nproject: quiet-river-1\nbranches: { staging: { primary: absent }, main: {} }\n'
    await writeFile(join(cwd, 'espalier/shop.yaml'), `${shop}waves: [{ name: canary, projects: [quiet-river-1] }]\n`)
  })
  afterAll(() => rm(cwd, { recursive: true }))

  // promise: completed-names
  test.each([
    ['status --project am', ['amber-field-2']],
    ['plan --wave ', ['canary']],
    ['status --branch ', ['main', 'staging']],
    ['operations list --project quiet-river-1 --branch ', ['staging', 'main']],
    ['operations list --compute ', ['ep-main-12345678']],
    ['compute restart ', ['main', 'main/bi', 'ep-main-12345678']],
    ['compute start ep', ['ep-main-12345678']],
    ['plan espalier/shop.yaml --branch ', ['staging', 'main']],
    ['plan --wave canary espalier/billing.yaml --branch ', ['main']],
    ['plan nowhere --branch ', []],
    ['compute restart --project quiet-river-1 ', []],
  ])('espalier %s is completed with the names in the manifests: %j', async (line, offered) => {
    const { io } = fakeIo({ cwd })
    expect((await complete(line.split(' '), io)).map(({ word }) => word)).toEqual(offered)
  })

  test('no name is offered if the manifests have more than two million characters', async () => {
    await writeFile(join(cwd, 'espalier/large.yaml'), `# ${'x'.repeat(2_000_000)}\n`)
    const { io } = fakeIo({ cwd })
    expect(await complete(['status', '--project', ''], io)).toEqual([])
  })
})
