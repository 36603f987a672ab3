import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { EXIT } from '../../src/model/index.ts'
import { espalier, espalierAsProcess } from './espalier.ts'

test.each([
  ['--help'],
  ['init --help'],
  ['validate --help'],
  ['plan --help'],
  ['apply --help'],
  ['import --help'],
  ['fmt --help'],
  ['show --help'],
  ['drift --help'],
  ['status --help'],
  ['operations --help'],
  ['operations list --help'],
  ['operations get --help'],
  ['operations wait --help'],
  ['operations watch --help'],
  ['snapshot --help'],
  ['compute --help'],
  ['compute restart --help'],
  ['explain --help'],
  ['sizes --help'],
  ['agent --help'],
  ['agent run --help'],
  ['agent status --help'],
  ['agent history --help'],
  ['agent reconcile --help'],
  ['agent suspend --help'],
  ['agent resume --help'],
  ['sandbox --help'],
  ['sandbox serve --help'],
  ['sandbox connect --help'],
  ['completion --help'],
])('the output of espalier %s matches its snapshot', async (line) => {
  const { code, stdout } = await espalier(line.split(' '))
  expect(code).toBe(0)
  expect(stdout).toMatchSnapshot()
})

test.each(['docs/cli.md', '--help'])('every exit code is documented in %s', async (where) => {
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
  ['plann', 'Error  E_USAGE: '],
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
