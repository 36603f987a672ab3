/** Two plans in one job or pull request have separate files and comments, and cannot be mixed up. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMENT_LIMIT } from '../../src/report/index.ts'
import { longTest } from '../long-runs.ts'
import { manifest, withHead } from './action-world.ts'

/** The state that a runner keeps between the steps of a job. */
const job = () => ({
  env: {
    RUNNER_TEMP: mkdtempSync(join(tmpdir(), 'espalier-job-')),
    GITHUB_RUN_ID: '17',
    GITHUB_RUN_ATTEMPT: '1',
  },
})

const withTwo = async () => {
  const world = await withHead()
  const { repository } = world
  repository.git('rm', '-q', 'espalier.yaml')
  repository.write('staging.yaml', manifest({ a: 4 }))
  repository.write('production.yaml', manifest({ main: 8 }))
  repository.commit('two')
  const sha = repository.git('rev-parse', 'HEAD')
  return { ...world, push: { event: { name: 'push', payload: {} }, sha } }
}

// promise: mixed-up-plans
test('each workflow step writes its own plan files, and apply uses the plan file that it is given', async () => {
  const { run, event, push, sandbox } = await withTwo()
  const shared = job()
  const staging = await run({ command: 'plan', paths: 'staging.yaml' }, { event, ...shared })
  const production = await run({ command: 'plan', paths: 'production.yaml' }, { event, ...shared })
  for (const name of ['plan-path', 'json-plan-path']) expect(staging.outputs[name]).not.toBe(production.outputs[name])
  const saved = staging.outputs['plan-path'] ?? ''
  const { code, log } = await run(
    { command: 'apply', 'plan-file': saved, paths: 'staging.yaml' },
    { ...push, ...shared },
  )
  expect(code, log).toBe(0)
  const changed = sandbox.control.requests().filter(({ method }) => method === 'PATCH')
  expect(changed.map(({ path }) => path)).toEqual([expect.stringMatching(/\/endpoints\/ep-a$/)])
})

// promise: mixed-up-plans
// hint: Give `apply` the same paths and label as the `plan` step whose plan it should apply.
test('a saved plan is rejected by an apply with other paths or another label', async () => {
  const { run, event, push, sandbox, repository } = await withTwo()
  const paths = 'staging.yaml'
  const planWith = async (inputs: Readonly<Record<string, string>>) =>
    (await run({ command: 'plan', paths, ...inputs }, { event })).outputs['plan-path'] ?? ''
  const [plain, labelled] = [await planWith({}), await planWith({ label: 'staging' })]
  const apply = (file: string, inputs: object) => run({ command: 'apply', 'plan-file': file, ...inputs }, push)
  expect((await apply(plain, {})).log).toContain('with the paths staging.yaml, but this step has (none).')
  repository.write('espalier.yaml', manifest({ a: 4 }))
  for (const [file, inputs, what] of [
    [plain, { paths: 'production.yaml' }, 'paths'],
    [plain, {}, 'paths'],
    [labelled, { label: 'production', paths }, 'label'],
    [labelled, { paths }, 'label'],
  ] as const) {
    const { code, log, outputs } = await apply(file, inputs)
    expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'refused' })
    expect(log).toMatch(new RegExp(`::error title=E_OTHER_PLAN::The saved plan .* was made with the ${what} `))
  }
  expect(sandbox.control.requests().filter(({ method }) => method !== 'GET')).toEqual([])
  const corrected = await apply(labelled, { label: 'staging', paths })
  expect(corrected.code, corrected.log).toBe(0)
})

test('a label identifies the plan in place of its paths, and appears in file names', async () => {
  const { run, event, push } = await withTwo()
  const label = 'staging'
  const { outputs } = await run({ command: 'plan', paths: 'staging.yaml', label }, { event })
  expect(basename(outputs['plan-path'] ?? '')).toBe('staging.plan.json')
  expect(basename(outputs['json-plan-path'] ?? '')).toBe('staging.json')
  const { code, log } = await run({ command: 'apply', label, 'plan-file': outputs['plan-path'] ?? '' }, push)
  expect(code, log).toBe(0)
})

longTest('plans with different paths or labels have separate comments with different headings', async () => {
  const { run, event, github } = await withTwo()
  const steps = [{ paths: 'staging.yaml' }, { paths: 'production.yaml' }, { paths: 'production.yaml', label: 'eu' }]
  for (const inputs of [...steps, ...steps]) {
    const { log } = await run({ command: 'plan', ...inputs }, { event })
    expect(log).not.toContain('Another step of this run')
  }
  expect(github.comments.map(({ body }) => /^### Espalier `(.*?)`:/m.exec(body)?.[1])).toEqual([
    'staging.yaml',
    'production.yaml',
    'eu',
  ])
})

longTest('a warning asks for labels if two steps of a workflow run write the same comment', async () => {
  const { run, event, github } = await withTwo()
  const first = job()
  await run({ command: 'plan', paths: 'staging.yaml' }, { event, ...first })
  const second = await run({ command: 'plan', paths: 'staging.yaml' }, { event, ...first })
  expect(second.log).toContain('::warning::Another step of this run wrote the same comment')
  expect(github.comments).toHaveLength(1)
  // The next run of the workflow edits it without a warning.
  const later = await run(
    { command: 'plan', paths: 'staging.yaml' },
    { event, env: { ...first.env, GITHUB_RUN_ID: '18' } },
  )
  expect(later.log).not.toContain('Another step of this run')
  expect(github.comments).toHaveLength(1)
  expect((github.comments[0]?.body ?? '').length).toBeLessThan(COMMENT_LIMIT.most)
})

// promise: own-comments
longTest('if the Action has written several comments, the newest is edited and the others are deleted', async () => {
  const { run, event, github } = await withHead()
  await run({ command: 'plan' }, { event })
  const [first] = github.comments
  const marker = (first?.body ?? '').split('\n')[0]
  const foreign = github.add(7, 'mallory', `${marker}\nforeign`)
  const newest = github.add(7, 'github-actions[bot]', `${marker}\nan old plan`)
  await run({ command: 'plan' }, { event })
  expect(github.problems).toEqual([])
  expect(github.comments.map(({ id }) => id)).toEqual([foreign.id, newest.id])
  expect(newest.body).toContain('4 computes restart')
})

test.each(['../x', 'a b', '-x', 'x'.repeat(65), 'a/b'])('the input `label` rejects %s', async (label) => {
  const { run } = await withHead()
  const { code, log, outputs } = await run({ command: 'plan', label })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'input' })
  expect(log).toContain('The input label cannot be')
})
