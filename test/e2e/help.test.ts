import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/base/index.ts'
import { COMMON_FLAGS, CONNECTION_FLAGS } from '../../src/cli/setup/flags.ts'
import { EVERY_COMMAND } from '../every-command.ts'
import { espalier, espalierAsProcess } from './espalier.ts'

describe.each(EVERY_COMMAND)('the help of espalier $name', ({ name, flags, positionals = {} }) => {
  const isCommon = (flag: string): boolean => flag in { ...CONNECTION_FLAGS, ...COMMON_FLAGS }
  const own = Object.keys(flags).filter((flag) => !isCommon(flag))
  const common = [...Object.keys(flags).filter(isCommon), ...Object.keys(COMMON_FLAGS)]
  const help = async (...more: readonly string[]): Promise<string> =>
    (await espalier([...name.split(' '), '--help', ...more])).stdout
  /** The entries of the lists of positionals and flags, each with its name. */
  const entries = (text: string): readonly (readonly [string, string])[] =>
    (text.split('\nExamples:')[0] ?? '').split(/\n(?= {2,6}\S)/).flatMap((entry) => {
      const [, one] = /^ +(?:-\w, )?(?:--)?([\w-]+)(?:, --\w+)?(?: \S+)? {2,}\S/.exec(entry) ?? []
      return one === undefined ? [] : [[one, entry.split('\n\n')[0] ?? ''] as const]
    })
  const described = (text: string): readonly string[] =>
    entries(text).flatMap(([one, entry]) => (/^ +(?:-\w, )?--/.test(entry) ? [one] : []))

  test('describes its flags, marks what is required, names the common flags, and fits on a screen', async () => {
    const text = await help()
    expect(described(text).toSorted()).toEqual(own.toSorted())
    for (const flag of common) expect(text.replaceAll('\n', ' ')).toMatch(new RegExp(`Common flags.*--${flag}\\b`))
    const required = [
      ...Object.keys(flags).filter((flag) => flags[flag]?.demandOption === true),
      ...Object.keys(positionals).filter((one) => new RegExp(`<${one}\\b`).test(text)),
    ]
    const marked = entries(text).flatMap(([one, entry]) => (entry.includes('[required]') ? [one] : []))
    expect(marked.toSorted()).toEqual(required.toSorted())
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  })

  test('describes all flags with --help all, those of the command first', async () => {
    const all = described(await help('all'))
    expect(all.toSorted()).toEqual([...new Set([...own, ...common, 'help', 'version'])].toSorted())
    expect(all.slice(0, own.length).toSorted()).toEqual(own.toSorted())
  })
})

test.each(['docs/reference/exit-codes.md', '--help'])('every exit code is documented in %s', async (where) => {
  const text = where === '--help' ? (await espalier([where])).stdout : await readFile(where, 'utf8')
  const list = text.slice(text.search(/exit codes/i))
  const missing = Object.values(EXIT).filter((code) => !new RegExp(`(?:^\\| | {2}|[:,] )${code} `, 'm').test(list))
  expect(missing).toEqual([])
})

test.each(['', 'sandbox', 'compute', 'operations', 'operations --no-color'])(
  'without a subcommand, espalier %s prints its help',
  async (line) => {
    const words = line.split(' ').filter((word) => word !== '')
    expect(await espalier(words)).toEqual(await espalier([...words, '--help']))
  },
)

test.each(['--version', 'version'])('espalier %s prints the version of the package', async (word) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  expect(await espalierAsProcess([word])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([
  ['plan --detailed-exit-code', 'did you mean --detailed-exitcode?'],
  ['plann', 'did you mean plan?'],
  ['sandbox serv', 'did you mean serve?'],
  ['plan --api-key s3cret', 'did you mean --api-key-file?'],
  ['plan --out', '--out needs a value'],
  ['plan --format xml', 'it must be one of'],
  ['-v', 'There is no flag -v: did you mean --version?'],
  ['-V', 'There is no flag -V: did you mean --version?'],
  ['operations --limit 3', 'operations needs a subcommand.'],
  ['plann', 'error  E_USAGE  '],
])('espalier %s fails with the message: %s', async (line, hint) => {
  const { code, stderr, stdout } = await espalier(line.split(' '))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(hint)
  expect(stderr).not.toContain('s3cret')
})

test.each(['bash', 'zsh', 'fish'])('the completion script for %s calls espalier __complete', async (shell) => {
  const { code, stdout } = await espalier(['completion', shell])
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('__complete') })
})

test('a missing key is reported with all three ways to provide one', async () => {
  const { code, stderr } = await espalier(['plan', 'examples/quickstart/espalier.yaml'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/ESPALIER_API_KEY.*NEON_API_KEY.*--api-key-file/)
})
