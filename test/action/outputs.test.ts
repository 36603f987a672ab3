/** What a plan sets as outputs, and what fails it. */
import { expect, test } from 'vitest'
import { costIncrease } from '../../src/action/run-plan.ts'
import type { Plan } from '../../src/model/index.ts'
import { caller } from '../sandbox/open-sandbox.ts'
import { manifest, withHead } from './action-world.ts'

const AS_LIVE = { main: 1, a: 1, b: 1, c: 1 }

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

test('`fail-on: cost` fails a plan whose cost has no known bound', async () => {
  const { run, event, repository, sandbox } = await withHead()
  await caller({ apiUrl: sandbox.controlUrl, apiKey: sandbox.controlToken })('POST', '/faults', {
    on: 'request',
    method: 'GET',
    path: '/projects/shop',
    effect: { kind: 'status', status: 403 },
    times: 0,
  })
  repository.write('espalier.yaml', 'version: 1\nproject: shop\nbranches: { main: { replicas: { reporting: {} } } }\n')
  const { outputs, log } = await run({ command: 'plan', 'fail-on': 'cost' }, { event })
  expect(outputs, log).toMatchObject({ 'failure-reason': 'fail-on', 'cost-increase': 'unknown' })
})

test.each([
  [{ expected: 0.44, high: 10, unknown: 0 }, 0.4],
  [{ expected: 0.04, high: 10, unknown: 0 }, 0],
  [{ expected: -3, high: 0, unknown: 0 }, 0],
  [{ expected: 1, high: null, unknown: 1 }, 'unknown'],
] as const)('`fail-on: cost` judges the increase that the comment shows: %j', (delta, increase) => {
  expect(costIncrease({ total: { delta: { low: 0, ...delta } } } as unknown as NonNullable<Plan['cost']>)).toBe(
    increase,
  )
})
