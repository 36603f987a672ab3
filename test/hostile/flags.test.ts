/** Random command lines must end with an exit code and a message that is safe to print. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { fakeIo } from '../in-process.ts'
import { runs } from '../long-runs.ts'
import { anyCharacter } from '../report/names.ts'

/** Control characters that Espalier does not print itself. Colour is off here. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for them
const RAW = /[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Bidi_Control}\u2028\u2029\ufeff]/u

const COMMANDS = ['validate', 'plan', 'show', 'explain', 'completion', 'status', 'drift', 'operations', 'no-such']
const FLAGS = [
  '--format',
  '--debug',
  '--no-color',
  '--live',
  '--base',
  '--detailed-exitcode',
  '--api-key-file',
  '--since',
  '--help',
  '--__proto__',
  '--constructor.prototype.polluted',
  '--a.b.c',
  '--',
  '-x',
  '---',
  '--=',
]
const WORDS = [
  'espalier.yaml',
  'live.json',
  'manifest',
  'json',
  '__proto__',
  'constructor',
  '\u001b[31mred',
  'a\r\nb',
  '\u202egnp',
  '../../etc/passwd',
  '**/*',
  '{a,b',
  '[',
  'NaN',
  '-1',
  '1e999',
  '0x10',
  '',
  ' ',
  'x'.repeat(5_000),
  '--upload-pack=touch x',
  'HEAD;id',
]

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-flags-'))
  writeFileSync(join(folder, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: {}\n')
  writeFileSync(join(folder, 'live.json'), '{}')
})

const check = async (args: readonly string[]): Promise<void> => {
  // No request leaves this machine, whatever is used as a key.
  const { io, output } = fakeIo({ env: { NO_COLOR: '1', ESPALIER_BASE_URL: 'nowhere' }, cwd: folder })
  const code = await runProgram(args, io)
  const said = output.sofar.stdout + output.sofar.stderr
  expect([0, 1, 2]).toContain(code)
  expect(said).not.toMatch(/bug in espalier|^ {4}at /m)
  expect(said.match(RAW)?.index).toBeUndefined()
  expect('polluted' in {}).toBe(false)
}

// promise: arbitrary-flags
test('any command with any flags ends with an exit code and a printable message', async () => {
  const word = fc.oneof(
    fc.constantFrom(...FLAGS),
    fc.constantFrom(...WORDS),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
  )
  const line = fc.tuple(fc.constantFrom(...COMMANDS), fc.array(word, { maxLength: 4 }))
  await fc.assert(
    fc.asyncProperty(line, ([command, rest]) => check([command, ...rest])),
    { numRuns: runs(200) },
  )
})

test('any flag with any value ends with an exit code and a printable message', async () => {
  const line = fc.tuple(
    fc.constantFrom('validate', 'plan', 'explain'),
    fc.constantFrom(...FLAGS),
    fc.constantFrom(...WORDS),
  )
  await fc.assert(
    fc.asyncProperty(line, ([command, flag, value]) => check([command, `${flag}=${value}`])),
    { numRuns: runs(100) },
  )
})
