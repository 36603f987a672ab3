/** Labels, check runs, folded comments and masked values. */
import { expect, test } from 'vitest'
import { manifest, withHead } from './action-world.ts'

const LABELS = { 'label-restart': 'db: restart', 'label-delete': 'db: delete', 'label-none': 'db: none' }
const AS_LIVE = { main: 1, a: 1, b: 1, c: 1 }

test('labels describe the plan and are removed when they no longer apply, while other labels are kept', async () => {
  const { run, event, github, repository } = await withHead()
  github.labels.set(7, new Set(['bug', 'db: none']))
  await run({ command: 'plan', ...LABELS }, { event })
  expect([...(github.labels.get(7) ?? [])].sort()).toEqual(['bug', 'db: restart'])
  repository.write('espalier.yaml', manifest(AS_LIVE))
  await run({ command: 'plan', ...LABELS }, { event })
  expect([...(github.labels.get(7) ?? [])].sort()).toEqual(['bug', 'db: none'])
  const before = github.requests.length
  await run({ command: 'plan', ...LABELS }, { event })
  expect(github.requests.slice(before).filter((line) => /^(POST|DELETE).*labels/.test(line))).toEqual([])
  expect(github.problems).toEqual([])
})

test('a failed plan removes the label that marks an empty plan', async () => {
  const { run, event, github } = await withHead()
  github.labels.set(7, new Set(['db: restart', 'db: none']))
  await run({ command: 'plan', ...LABELS, 'api-key': 'wrong' }, { event })
  expect([...(github.labels.get(7) ?? [])]).toEqual(['db: restart'])
})

test('no labels and no check run are created by default', async () => {
  const { run, event, github } = await withHead()
  await run({ command: 'plan' }, { event })
  expect(github.requests.filter((line) => /labels|check-runs/.test(line))).toEqual([])
})

test('a check run contains all annotations, and the log contains none', async () => {
  const { run, event, github } = await withHead()
  const { log, code } = await run({ command: 'plan', 'check-run': 'true', label: 'eu' }, { event })
  expect(code, log).toBe(0)
  expect(github.problems).toEqual([])
  expect(github.checkRuns).toMatchObject([{ name: 'Espalier eu', conclusion: 'success' }])
  expect(github.checkRuns[0]?.annotations).toHaveLength(4)
  expect(log).not.toContain('::warning')
  await run({ command: 'plan', 'check-run': 'true', 'fail-on': 'restarts' }, { event })
  expect(github.checkRuns[1]).toMatchObject({ name: 'Espalier', conclusion: 'failure' })
  await run({ command: 'plan', 'check-run': 'true', 'api-key': 'wrong' }, { event })
  expect(github.checkRuns[2]).toMatchObject({ conclusion: 'failure' })
})

test('annotations that exceed the limit for one request are added in further requests', async () => {
  const { run, event, github, repository } = await withHead()
  const mistakes = Array.from({ length: 120 }, (_, at) => `  b${at}: { primary: { size: 3.5 } }\n`).join('')
  repository.write('espalier.yaml', `version: 1\nproject: shop\nbranches:\n${mistakes}`)
  await run({ command: 'plan', 'check-run': 'true' }, { event })
  expect(github.problems).toEqual([])
  expect(github.checkRuns[0]?.annotations.length).toBeGreaterThanOrEqual(100)
})

test('without permission to create check runs, a warning names that permission and the annotations go to the log', async () => {
  const { run, event, github } = await withHead()
  github.faults.push({ path: /labels|check-runs/, status: 403, times: 10 })
  const { code, log } = await run({ command: 'plan', 'check-run': 'true', ...LABELS }, { event })
  expect(code).toBe(0)
  expect(log).toContain('::warning::The labels were not updated. ')
  expect(log).toContain('The job needs the permission `checks: write`.')
  expect(log.match(/^::warning file=/gm)).toHaveLength(4)
})

test.each([
  ['recreate', 1],
  ['minimize', 2],
])('`comment-mode: %s` adds a changed plan as a new comment below newer comments', async (mode, count) => {
  const { run, event, github, repository } = await withHead()
  await run({ command: 'plan', 'comment-mode': mode }, { event })
  github.add(7, 'octocat', 'looks good')
  await run({ command: 'plan', 'comment-mode': mode }, { event })
  expect(github.comments.map(({ login }) => login)).toEqual(['github-actions[bot]', 'octocat'])
  repository.write('espalier.yaml', manifest({ main: 2, a: 2, b: 2, c: 2 }))
  await run({ command: 'plan', 'comment-mode': mode }, { event })
  const own = github.comments.filter(({ login }) => login !== 'octocat')
  expect(github.comments.at(-1)?.body).toContain('2 CU')
  expect(own).toHaveLength(count)
  expect(own.map(({ isMinimized = false }) => isMinimized)).toEqual(count === 1 ? [false] : [true, false])
})

test('values in the input `masks` are hidden in the comment, summary and check run, and masked in the log', async () => {
  const { run, event, github } = await withHead()
  const inputs = { command: 'plan', masks: 'ep-main\n\n shop \nprimary', 'check-run': 'true' }
  const { log, summary } = await run(inputs, { event })
  expect(log).toContain('::add-mask::ep-main\n')
  expect(log).toContain('::add-mask::shop\n')
  for (const text of [summary, github.comments[0]?.body ?? '']) {
    expect(text).toContain('***')
    expect(text).not.toContain('ep-main')
  }
  expect(JSON.stringify(github.checkRuns)).not.toContain('primary')
  const short = await run({ ...inputs, masks: 'ab' }, { event })
  expect(short.log).toContain('Line 1 of the input masks is too short.')
})

test('the outputs contain the counts and the verdict of the plan', async () => {
  const { run, event } = await withHead()
  const { outputs } = await run({ command: 'plan' }, { event })
  expect(outputs).toMatchObject({
    introduced: '1',
    'may-restart': '0',
    disconnects: '0',
    refused: '0',
    unmanaged: '0',
    verdict: '4 computes restart, none is deleted.',
  })
})

test('the summary names the kind of API key', async () => {
  const { run, event } = await withHead()
  const { summary, outputs } = await run({ command: 'plan' }, { event })
  expect(outputs['key-kind']).toBe('personal')
  expect(summary).toContain('API key: personal. It can write to every project of its owner.')
})

test.each([
  ['deny', 'error', 1, 'policy-denied'],
  ['warn', 'error', 0, ''],
  ['warn', 'policies', 1, 'fail-on'],
])(
  'violating a policy with level %s under `fail-on: %s` results in exit code %i',
  async (level, failOn, code, reason) => {
    const { run, repository } = await withHead()
    repository.write(
      'espalier.policy.yaml',
      `version: 1\npolicies: [{ name: small, level: ${level}, reason: Budget., rule: { maxSize: 2 } }]\n`,
    )
    const ended = await run({ command: 'plan', 'fail-on': failOn })
    expect({ code: ended.code, reason: ended.outputs['failure-reason'] }, ended.log).toEqual({ code, reason })
  },
)

test('`fail-on: cost` fails a plan that increases the cost', async () => {
  const { run, event, repository } = await withHead()
  expect((await run({ command: 'plan', 'fail-on': 'cost' }, { event })).outputs['failure-reason']).toBe('fail-on')
  repository.write('espalier.yaml', manifest(AS_LIVE))
  expect((await run({ command: 'plan', 'fail-on': 'cost' }, { event })).code).toBe(0)
})
