import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { espalier } from './espalier.ts'

test.each([
  ['--help'],
  ['init --help'],
  ['validate --help'],
  ['plan --help'],
  ['apply --help'],
  ['import --help'],
  ['fmt --help'],
  ['show --help'],
  ['report --help'],
  ['report merge --help'],
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
  ['schema --help'],
  ['sandbox --help'],
  ['sandbox serve --help'],
  ['sandbox connect --help'],
  ['completion --help'],
])('espalier %s', async (line) => {
  const { code, stdout } = await espalier(line.split(' '))
  expect(code).toBe(0)
  expect(stdout).toMatchSnapshot()
})

test.each(['--version', 'version'])('%s is the version of the package', async (word) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  expect(await espalier([word])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([
  ['plan --detailed-exit-code', 'did you mean --detailed-exitcode?'],
  ['plann', 'did you mean plan?'],
  ['sandbox serv', 'did you mean serve?'],
  ['plan --api-key s3cret', 'did you mean --api-key-file?'],
  ['plan --out', '--out needs a value'],
  ['plan --format xml', 'it takes'],
])('espalier %s: %s', async (line, hint) => {
  const { code, stderr, stdout } = await espalier(line.split(' '))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(hint)
  expect(stderr).not.toContain('s3cret')
})

test.each(['bash', 'zsh', 'fish'])('completion for %s asks the program', async (shell) => {
  const { code, stdout } = await espalier(['completion', shell])
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('--get-yargs-completions') })
  expect((await espalier(['--get-yargs-completions', 'espalier', ''])).stdout.split('\n')).toContain('apply')
})

test('without a key all three ways to give one are told', async () => {
  const { code, stderr } = await espalier(['plan', 'examples/quickstart/espalier.yaml'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/ESPALIER_API_KEY.*NEON_API_KEY.*--api-key-file/)
})
