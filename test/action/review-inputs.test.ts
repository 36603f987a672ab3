/** The inputs for policies and overrides. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { manifest, open, pullRequest } from './action-world.ts'

const POLICY = (most: number, level = 'deny') =>
  `version: 1\npolicies:\n  - { name: small, level: ${level}, reason: It is paid by us., rule: { maxSize: ${most} } }\n`

const withPolicies = async () => {
  const world = await open()
  world.repository.write('espalier.policy.yaml', POLICY(2))
  world.repository.commit('policies')
  world.repository.write('espalier.yaml', manifest({ main: 4, a: 2, b: 2, c: 2 }))
  world.repository.write('espalier.policy.yaml', POLICY(8))
  world.repository.commit('head')
  return { ...world, event: pullRequest(world) }
}

test("the base's policies deny the plan, and the comment shows how the pull request changes them", async () => {
  const { run, event, github } = await withPolicies()
  const { code, log, outputs } = await run({ command: 'plan' }, { event })
  expect(code, log).toBe(1)
  expect(outputs).toMatchObject({ 'failure-reason': 'policy-denied', 'policies-denied': 'small' })
  const body = github.comments[0]?.body ?? ''
  expect(body).toContain('nothing will run: policy `small` denies it')
  expect(body).toContain('Changes policy `small`: maxSize 2 → maxSize 8')
})

// promise: recorded-override
test('an override allows a denied plan, and its author is recorded', async () => {
  const { run, event, github } = await withPolicies()
  const inputs = { command: 'plan', override: 'small=load test\n' }
  const { code, log, outputs } = await run(inputs, { event, env: { GITHUB_ACTOR: 'octocat' } })
  expect(code, log).toBe(0)
  expect(outputs).toMatchObject({ 'policies-denied': '', 'cost-increase': expect.stringMatching(/^[\d.]+$/) })
  expect(github.comments[0]?.body).toContain('policy `small` overridden by octocat: load test')
  const plan = JSON.parse(readFileSync(outputs['json-plan-path'] ?? '', 'utf8'))
  expect(plan.policies.results).toContainEqual(
    expect.objectContaining({ outcome: 'overridden', override: 'load test', overriddenBy: 'octocat' }),
  )
})

test('mistakes in the inputs for policies are rejected', async () => {
  const { run, event } = await withPolicies()
  for (const [name, value, code] of [
    ['override', 'smal=x', 'E_OVERRIDE'],
    ['override', 'small', 'E_OVERRIDE'],
    ['override', 'nowhere-near=x', 'Policies here: small.'],
    ['cost-threshold', 'low', 'E_INPUT'],
    ['policy', 'nowhere.yaml', 'E_NOT_FOUND'],
  ] as const) {
    const ended = await run({ command: 'plan', [name]: value }, { event })
    expect(ended.code, value).toBe(1)
    expect(ended.log).toContain(code)
  }
})
