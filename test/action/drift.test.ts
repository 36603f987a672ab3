/** The command `import` and the input `pull-request`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startInProcess } from '../in-process.ts'
import { longTest } from '../long-runs.ts'
import { manifest, open, pullRequest, type World, withHead } from './action-world.ts'

const SCHEDULE = { event: { name: 'schedule', payload: {} } }

test('after drifted values are imported, the plan is empty', async () => {
  const { run, repository, sandbox } = await open()
  const text = manifest({ main: 1, a: 2, b: 2, c: 2 }).replace('  a:', '  # kept\n  a:')
  repository.write('espalier.yaml', text)
  const { code, log, outputs, summary } = await run({ command: 'import' }, SCHEDULE)
  expect(code, log).toBe(0)
  expect(outputs).toMatchObject({ 'changed-files': 'espalier.yaml', 'has-changes': 'true' })
  expect(summary).toContain('### Espalier import: 1 manifest changed')
  expect(readFileSync(join(repository.folder, 'espalier.yaml'), 'utf8')).toBe(text.replaceAll('size: 2', 'size: 1'))
  expect((await run({ command: 'plan' }, SCHEDULE)).outputs).toMatchObject({ 'has-changes': 'false' })
  expect((await run({ command: 'import' }, SCHEDULE)).outputs).toMatchObject({
    'changed-files': '',
    'has-changes': 'false',
  })
  expect(sandbox.control.requests().filter(({ method }) => method !== 'GET')).toEqual([])
})

test('a project that cannot be planned does not keep import from the other projects', async () => {
  const { run, repository } = await open()
  repository.write('gone.yaml', 'version: 1\nproject: gone\nbranches: { main: { primary: { size: 3 } } }\n')
  const { log, outputs, summary } = await run({ command: 'import', paths: '.' }, SCHEDULE)
  expect(outputs).toMatchObject({ 'changed-files': 'espalier.yaml', 'failure-reason': 'validation-failed' })
  expect(readFileSync(join(repository.folder, 'espalier.yaml'), 'utf8')).toBe(manifest({ main: 1, a: 1, b: 1, c: 1 }))
  expect(log).toContain('no project `gone`')
  expect(summary).toContain('### Espalier import: 1 manifest changed')
})

// hint: Nothing was written. For each file, name its branches: `espalier import --project … --branch NAME --out FILE`.
test('import is rejected for a pull request and for a project that is declared in two files', async () => {
  const { run, event, repository, sandbox } = await withHead()
  expect((await run({ command: 'import' }, { event })).outputs['failure-reason']).toBe('input')
  repository.write('more.yaml', 'version: 1\nproject: shop\nbranches: { c: { primary: { size: 3 } } }\n')
  repository.write('espalier.yaml', manifest({ main: 1, a: 2, b: 2 }))
  const { log } = await run({ command: 'import', paths: '.' }, SCHEDULE)
  expect(log).toContain('The project shop is declared in ')
  expect(readFileSync(join(repository.folder, 'more.yaml'), 'utf8')).toContain('size: 3')
  const env = { ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey }
  const cli = (...args: readonly string[]) => startInProcess(args, { cwd: repository.folder, env }).ended
  const [, suggested = ''] = /name its branches: `espalier (.+?)`/.exec(log) ?? []
  for (const [file, branch] of [
    ['espalier.yaml', '[ab]'],
    ['more.yaml', 'c'],
  ] as const) {
    const ended = await cli(...suggested.replace('NAME', branch).replace('FILE', file).split(' '))
    expect(ended.code, ended.stderr).toBe(0)
  }
  expect((await cli('plan', '.')).stdout).toContain('No changes.')
})

/** The merge of pull request 7 is checked out, in a workflow that runs for a push. */
const withNamed = async (full_name = 'acme/shop', text = manifest({ main: 4, a: 2, b: 2, c: 2 })) => {
  const world: World = await open()
  const { repository, github } = world
  repository.git('checkout', '-q', '-b', 'feature')
  repository.write('espalier.yaml', text)
  const sha = repository.commit('head')
  repository.git('checkout', '-q', 'main')
  repository.git('merge', '-q', '--no-ff', '-m', 'merge', 'feature')
  const [head, base] = [
    { sha, ref: 'feature', repo: { full_name } },
    { sha: '', ref: 'main' },
  ]
  github.pulls.push({ number: 7, title: '', body: '', head, base })
  return { ...world, push: { event: { name: 'push', payload: {} } } }
}

test('the input `pull-request` plans a pull request as if it had triggered the workflow', async () => {
  const { run, push, github } = await withNamed()
  const { code, log } = await run({ command: 'plan', 'pull-request': '7' }, push)
  expect(code, log).toBe(0)
  expect(github.problems).toEqual([])
  expect(github.comments).toMatchObject([{ issue: 7 }])
  expect(github.comments[0]?.body).toContain('**Existing drift: 3 computes**\n\nNot introduced here: ')
  expect(github.comments[0]?.body).toContain(`<!-- espalier record 1 ${github.pulls[0]?.head.sha} `)
})

longTest('the input `pull-request` creates no comment if only drift would be corrected', async () => {
  const { run, push, github } = await withNamed('acme/shop', `${manifest({ main: 1, a: 2, b: 2, c: 2 })}# a comment\n`)
  const { log, outputs } = await run({ command: 'plan', 'pull-request': '7' }, push)
  expect(outputs, log).toMatchObject({ 'failure-reason': '', introduced: '0', drifted: '3' })
  expect(github.comments).toEqual([])
})

// promise: named-pull-request
test('a pull request named by an input is never applied, and is untrusted if it is from a fork', async () => {
  const { run, push } = await withNamed()
  const applied = await run({ command: 'apply', 'pull-request': '7' }, push)
  expect(applied.log).toContain('E_NOT_MERGED')
  const fork = await withNamed('stranger/shop')
  const planned = await fork.run({ command: 'plan', 'pull-request': '7' }, fork.push)
  expect(planned.outputs['plan-path']).toBeUndefined()
  expect(fork.github.comments[0]?.body).toContain('Live values of Postgres settings')
})

// promise: named-pull-request
test('the input `pull-request` is rejected if the checked-out commit is not the merge commit of that pull request', async () => {
  const { run, github, repository } = await withHead()
  const head = { ...pullRequest({ repository } as World).payload.pull_request.head, ref: 'feature' }
  github.pulls.push({ number: 7, title: '', body: '', head, base: { sha: '', ref: 'main' } })
  const { log, outputs } = await run(
    { command: 'plan', 'pull-request': '7' },
    { event: { name: 'workflow_dispatch', payload: {} } },
  )
  expect(outputs['failure-reason']).toBe('input')
  expect(log).toContain('The checked-out commit is not the merge of pull request #7.')
})

// hint: Remove the empty value: the default is the token of the job.
longTest.each([
  ['does not exist', { 'pull-request': '8' }, 'input', 'acme/shop has no pull request #8, or the job cannot read it.'],
  ['cannot be read', { 'pull-request': '7' }, 'refused', 'Pull request #7 could not be read. GitHub refused to'],
  ['needs a token', { 'pull-request': '7', 'github-token': '' }, 'input', 'requires the input github-token'],
])('if the pull request of the input `pull-request` %s, the error says so', async (_what, inputs, reason, words) => {
  const { run, github, push } = await withNamed()
  github.faults.push({ path: /\/pulls\/7$/, status: 403, times: 9 })
  const { log, outputs } = await run({ command: 'plan', ...inputs }, push)
  expect(outputs['failure-reason']).toBe(reason)
  expect(log).toContain(words)
  expect(log).not.toContain('is not the merge of')
  github.faults.length = 0
  expect((await run({ command: 'plan', 'pull-request': '7' }, push)).code).toBe(0)
})
