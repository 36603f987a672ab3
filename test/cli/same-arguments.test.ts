import { expect, test } from 'vitest'
import { sameArguments, sameConnection } from '../../src/cli/setup/same-arguments.ts'

test.each([
  [['espalier.yaml'], {}, ''],
  [['a.yaml', 'my fleet/'], {}, " a.yaml 'my fleet/'"],
  [['<stdin>'], {}, ' -'],
  [
    ['espalier'],
    { project: ['shop-*'], branch: ['main'], wave: 'canary' },
    " --project 'shop-*' --branch main --wave canary",
  ],
  [
    ['espalier'],
    { baseUrl: 'http://127.0.0.1:7788/api/v2', sandbox: '' },
    ' --base-url http://127.0.0.1:7788/api/v2 --sandbox',
  ],
])('sameArguments(%j, %j) repeats the paths and flags', (paths, flags, expected) => {
  expect(sameArguments(paths, flags)).toBe(expected)
})

test('sameConnection escapes a quote in a value', () => {
  expect(sameConnection({ apiKeyFile: "it's; rm" })).toBe(" --api-key-file 'it'\\''s; rm'")
})
