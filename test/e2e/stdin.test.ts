import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from './espalier.ts'

test.each([
  ['version: 1\nproject: p\n', 0, 'No problems'],
  ['version: 1\nproject: p\nbranches: { main: { primary: { size: 3.5 } } }\n', 1, '<stdin>:3:38'],
])('- reads the manifest from stdin', (input, code, words) => {
  const { status, stdout } = spawnSync(process.execPath, ['dist/main.js', 'validate', '-'], {
    cwd: ROOT,
    input,
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: code, stdout: expect.stringContaining(words) })
})
