import { expect, test } from 'vitest'
import { startInProcess } from '../in-process.ts'
import { ROOT } from './espalier.ts'

test.each([
  ['version: 1\nproject: p\n', 0, 'No problems'],
  ['version: 1\nproject: p\nbranches: { main: { primary: { size: 3.5 } } }\n', 1, '<stdin>:3:38'],
])('validate - reads the manifest from stdin', async (stdin, code, words) => {
  const ended = await startInProcess(['validate', '-'], { cwd: ROOT, stdin }).ended
  expect(ended).toMatchObject({ code, stdout: expect.stringContaining(words) })
})
