import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { espalier, type Served, serve, start } from './espalier.ts'

const MANIFEST = 'examples/quickstart/espalier.yaml'
const SEED = 'examples/quickstart/seed.yaml'

let sandbox: Served
let folder: string
beforeEach(async () => {
  sandbox = await serve(SEED)
  folder = await mkdtemp(join(tmpdir(), 'espalier-e2e-'))
})
afterEach(async () => {
  expect(await sandbox.stop()).toBe(0)
})

test('plan exits with 2, apply with 0, and the next plan with 0, and no output contains the key', async () => {
  const journal = join(folder, 'journal')
  const before = await espalier(['plan', MANIFEST, '--detailed-exitcode', '--debug'], sandbox.env)
  expect(before).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/Plan: 1 to create, 3 to update\./),
  })
  const applied = await espalier(['apply', MANIFEST, '--auto-approve', '--journal', journal, '--debug'], sandbox.env)
  expect(applied.code, applied.stdout + applied.stderr).toBe(0)
  const after = await espalier(['plan', MANIFEST, '--detailed-exitcode'], sandbox.env)
  expect(after.code, after.stdout).toBe(0)
  const all =
    [before, applied, after].map(({ stdout, stderr }) => stdout + stderr).join('') + (await readFile(journal, 'utf8'))
  expect(all).not.toContain(sandbox.key)
  expect(all).not.toContain('\u001b')
})

test('plan sends only GET requests', async () => {
  const { stderr } = await espalier(['plan', MANIFEST, '--debug'], sandbox.env)
  const requests = stderr.match(/\b(GET|HEAD|POST|PUT|PATCH|DELETE) \/\S+/g) ?? []
  expect(requests).toHaveLength(4)
  expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([])
})

// promise: stale-saved-plan
test('a saved plan is applied exactly, and rejected once the project has changed', async () => {
  const saved = join(folder, 'plan.json')
  expect((await espalier(['plan', MANIFEST, '--out', saved], sandbox.env)).code).toBe(0)
  expect((await espalier(['apply', saved, '--auto-approve'], sandbox.env)).code).toBe(0)
  const again = await espalier(['apply', saved, '--auto-approve'], sandbox.env)
  const applied = 'is stale: it seems to have been applied already'
  expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining(applied) })
})

test('a saved plan is applied even if a compute has been suspended in the meantime', async () => {
  const saved = join(folder, 'plan.json')
  expect((await espalier(['plan', MANIFEST, '--out', saved], sandbox.env)).code).toBe(0)
  const { plan } = JSON.parse(await readFile(saved, 'utf8'))
  const awake = plan.changes.find((change: { compute: { state?: string } }) => change.compute.state === 'active')
  const suspend = ['compute', 'suspend', awake.compute.id, '--project', plan.projects[0], '--yes']
  expect((await espalier(suspend, sandbox.env, folder)).code).toBe(0)
  const applied = await espalier(['apply', saved, '--auto-approve'], sandbox.env)
  expect(applied.code, applied.stdout + applied.stderr).toBe(0)
})

test('an edited plan file is rejected by show and apply', async () => {
  const saved = join(folder, 'plan.json')
  expect((await espalier(['plan', MANIFEST, '--out', saved], sandbox.env)).code).toBe(0)
  await writeFile(saved, (await readFile(saved, 'utf8')).replace(/"restarts": [1-9]/, '"restarts": 0'))
  for (const args of [
    ['show', saved],
    ['apply', saved, '--auto-approve'],
  ]) {
    expect(await espalier(args, sandbox.env)).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('was edited after espalier wrote it'),
    })
  }
})

test('apply --format json prints one event per line and nothing else', async () => {
  const { code, stdout } = await espalier(['apply', MANIFEST, '--auto-approve', '--format', 'json'], sandbox.env)
  const events: { type: string }[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(code).toBe(0)
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['version', 'plan', 'step-start', 'call', 'step-end']),
  )
  expect(events.at(-1)).toMatchObject({ type: 'outcome', outcome: { converged: true } })
})

test('apply exits with 3 if a step lacks consent, and does not run that step', async () => {
  const { code, stdout } = await espalier(['apply', MANIFEST, '--auto-approve', '--allow', 'none'], sandbox.env)
  expect(code).toBe(3)
  expect(stdout).toContain('--allow restart')
})

test('apply changes nothing if the plan exceeds a limit', async () => {
  const { code, stdout } = await espalier(['apply', MANIFEST, '--auto-approve', '--max-restarts', '0'], sandbox.env)
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('`max-restarts` denies') })
  expect((await espalier(['plan', MANIFEST, '--detailed-exitcode'], sandbox.env)).code).toBe(2)
})

test('apply without a terminal names the flag that is missing', async () => {
  const { code, stderr } = await espalier(['apply', MANIFEST], sandbox.env)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('--auto-approve') })
})

test('an interrupted apply exits with 130, and the next apply converges', async () => {
  const slow = await serve(SEED, 1)
  try {
    const first = start(['apply', MANIFEST, '--auto-approve', '--format', 'json'], slow.env)
    await first.says('"step-start"')
    first.interrupt()
    expect((await first.ended).code).toBe(130)
    expect((await espalier(['apply', MANIFEST, '--auto-approve'], slow.env)).code).toBe(0)
    expect((await espalier(['plan', MANIFEST, '--detailed-exitcode'], slow.env)).code).toBe(0)
  } finally {
    await slow.stop()
  }
})

test('a wrong key is reported with a hint and without a stack trace', async () => {
  const { code, stderr } = await espalier(['plan', MANIFEST], { ...sandbox.env, ESPALIER_API_KEY: 'wrong' })
  const message = /^error {2}E_KEY {2}The control API does not accept the API key: .*ESPALIER_API_KEY/s
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
  expect(stderr).not.toMatch(/\n\s+at /)
})

test('validate reports all ten mistakes, each with its line and column', async () => {
  const sizes = [
    '3.5',
    '17',
    '{ min: 4, max: 2 }',
    '{ min: 1, max: 16 }',
    '{ min: 18, max: 20 }',
    '0',
    '-1',
    'big',
    'null',
    '57',
  ]
  const branches = sizes.map((size, index) => `  b${index}:\n    primary: { size: ${size} }\n`).join('')
  const file = join(folder, 'wrong.yaml')
  await writeFile(file, `version: 1\nproject: quiet-river-12345678\nbranches:\n${branches}`)
  const { code, stdout } = await espalier(['validate', file, '--format', 'json'])
  expect(code).toBe(1)
  const { diagnostics }: { diagnostics: { line: number; column: number }[] } = JSON.parse(stdout)
  expect(new Set(diagnostics.map(({ line }) => line))).toEqual(new Set(sizes.map((_, index) => 5 + 2 * index)))
  expect(diagnostics.every(({ column }) => column > 1)).toBe(true)
})
