import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  POLICY_RULES,
  type Policy,
  type PolicyBranch,
  type PolicyCompute,
  type PolicyProject,
  type PolicyRule,
  SCALE_TO_ZERO_NEVER,
} from '../../src/model/index.ts'
import { checkOverrideNames, judgePolicies, parseOverrides, unusedOverrides } from '../../src/policy/index.ts'

const policy = (rule: PolicyRule, more: Partial<Policy> = {}): Policy => ({
  name: 'limit',
  level: 'deny',
  reason: 'Because.',
  except: [],
  computes: 'any',
  rule,
  source: { file: 'espalier.policy.yaml', line: 1, column: 1, length: 1 },
  ...more,
})

const sized = (cu: number, more: Partial<PolicyCompute> = {}): PolicyCompute => ({
  key: 'ep-main',
  title: 'primary',
  type: 'read_write',
  settings: { size: { min: cu, max: cu } },
  ...more,
})

const sleeping = (scaleToZero: number): PolicyCompute =>
  sized(1, { settings: { size: { min: 1, max: 1 }, scaleToZero } })
const replica = (key: string): PolicyCompute => sized(1, { key, title: `replica ${key}`, type: 'read_only' })

const project = (
  computes: readonly PolicyCompute[],
  more: Partial<PolicyProject> = {},
  branch: Partial<PolicyBranch> = {},
): PolicyProject => ({
  id: 'quiet-river-1',
  name: 'shop',
  isComplete: true,
  branches: [{ name: 'main', computes, ...branch }],
  ...more,
})

const judge = (rule: PolicyRule, after: PolicyProject, before?: PolicyProject, more: Partial<Policy> = {}) =>
  judgePolicies([policy(rule, more)], [{ after, ...(before === undefined ? {} : { before }) }]).results

const outcomes = (...parameters: Parameters<typeof judge>) => judge(...parameters).map(({ outcome }) => outcome)

const MOST_2 = { kind: 'maxSize', limit: 2 } as const

test('every rule has a case: a limit on a plan in limits.test.ts, any other here', () => {
  const cases = ['policy/judge', 'workflow/limits'].map((name) => readFileSync(`test/${name}.test.ts`, 'utf8')).join()
  expect(Object.keys(POLICY_RULES).filter((rule) => !new RegExp(`kind: '${rule}'|${rule}:`).test(cases))).toEqual([])
})

describe('rules', () => {
  const fine = project([sized(2)])
  test.each<[PolicyRule, PolicyProject, PolicyProject, string]>([
    [MOST_2, fine, project([sized(4)]), '`limit` denies 4 CU for primary on main (at most 2 CU)'],
    [
      { kind: 'minSize', limit: 2 },
      fine,
      project([sized(1)]),
      '`limit` denies 1 CU for primary on main (at least 2 CU)',
    ],
    [
      { kind: 'maxProjectCu', limit: 2 },
      fine,
      project([sized(2), replica('a')]),
      '`limit` denies 3 CU in project shop (at most 2 CU)',
    ],
    [
      { kind: 'maxReplicas', limit: 1 },
      project([replica('a')]),
      project([replica('a'), replica('b')]),
      '`limit` denies 2 replicas on main (at most 1)',
    ],
    [
      { kind: 'scaleToZero', limit: 1 },
      project([sleeping(300)]),
      project([sleeping(SCALE_TO_ZERO_NEVER)]),
      '`limit` denies `scaleToZero: never` for primary on main (required)',
    ],
    [
      { kind: 'scaleToZero', limit: 0 },
      project([sleeping(SCALE_TO_ZERO_NEVER)]),
      project([sleeping(0)]),
      '`limit` denies `scaleToZero: default (5m)` for primary on main (must be never)',
    ],
    [
      { kind: 'maxScaleToZero', limit: 600 },
      project([sleeping(0)]),
      project([sleeping(900)]),
      '`limit` denies `scaleToZero: 15m` for primary on main (at most 10m)',
    ],
    [
      { kind: 'restartWindow', limit: 1 },
      project([sized(1, { hasWindow: true })]),
      project([sized(1, { hasWindow: false })]),
      '`limit` denies primary on main without a restart window (required)',
    ],
    [
      { kind: 'protect', limit: 1 },
      project([], {}, { protect: true }),
      project([], {}, { protect: false }),
      '`limit` denies main without `protect: true` (required)',
    ],
    [
      { kind: 'prune', limit: 0 },
      project([], { prune: false }),
      project([], { prune: true }),
      '`limit` denies `prune: true` for project shop (forbidden)',
    ],
    [
      { kind: 'maxCuHours', limit: 600 },
      project([], { cuHours: { known: 600, isComplete: true } }),
      project([], { cuHours: { known: 601, isComplete: false } }),
      '`limit` denies the CU-hours expected for project shop (at most 600 a month)',
    ],
  ])('the rule %j allows a value within its limit and denies one beyond it', (rule, allowed, denied, message) => {
    expect(judge(rule, allowed)).toEqual([])
    expect(judge(rule, denied)).toMatchObject([{ outcome: 'denied', message, reason: 'Because.' }])
  })
})

describe('outcomes', () => {
  test.each([
    ['did not exist is denied', 4, undefined, 'denied'],
    ['was allowed is denied', 4, 2, 'denied'],
    ['exceeded the limit by less is denied', 4, 3, 'denied'],
    ['was the same is reported as existing', 4, 4, 'existing'],
    ['exceeded the limit by more is reported as existing', 4, 8, 'existing'],
  ])('a violation whose value before the plan %s', (_, after, before, outcome) => {
    expect(
      outcomes(MOST_2, project([sized(after)]), before === undefined ? undefined : project([sized(before)])),
    ).toEqual([outcome])
  })

  test('a policy with level `warn` warns and does not deny', () => {
    expect(judge(MOST_2, project([sized(4)]), undefined, { level: 'warn' })).toMatchObject([
      { outcome: 'warned', message: '`limit` warns about 4 CU for primary on main (at most 2 CU)' },
    ])
  })

  test('an unknown value causes a warning, but is denied if the manifest could set it', () => {
    const unknown = { settings: {} }
    expect(outcomes(MOST_2, project([sized(1, unknown)]))).toEqual(['unknown'])
    expect(outcomes(MOST_2, project([sized(1, { ...unknown, isNew: true })]))).toEqual(['denied'])
  })

  test('a CU-hours limit cannot be judged for a compute without history', () => {
    const isComplete = false
    expect(outcomes({ kind: 'maxCuHours', limit: 600 }, project([], { cuHours: { known: 600, isComplete } }))).toEqual([
      'unknown',
    ])
  })

  test('policies that a manifest alone cannot decide are left to the plan', () => {
    const { results, undecided } = judgePolicies(
      [policy(MOST_2), policy({ kind: 'maxReplicas', limit: 0 }, { name: 'few' })],
      [{ after: project([sized(1, { settings: {} })], { isComplete: false }) }],
      { isComplete: false },
    )
    expect([results, undecided]).toEqual([[], ['few', 'limit']])
  })
})

describe('selectors', () => {
  const large = project([sized(4), sized(8, { key: 'ep-r', title: 'replica r', type: 'read_only' })])
  test.each([
    [{}, 2],
    [{ projects: ['shop*'] }, 2],
    [{ projects: ['quiet-river-1'] }, 2],
    [{ projects: ['other'] }, 0],
    [{ branches: ['preview/**'] }, 0],
    [{ except: ['ma*'] }, 0],
    [{ computes: 'primary' as const }, 1],
    [{ computes: 'replica' as const }, 1],
  ])('a policy with the selector %j applies to %i computes', (selector, count) => {
    expect(judge(MOST_2, large, undefined, selector)).toHaveLength(count)
  })

  test('a policy for certain project names also applies to a project whose name cannot be read', () => {
    const { name: _, ...nameless } = large
    expect(judge(MOST_2, nameless, undefined, { projects: ['shop*'] })).toHaveLength(2)
  })
})

describe('overrides', () => {
  const overrides = (...words: readonly string[]) => {
    const parsed = parseOverrides(words)
    checkOverrideNames(parsed, ['limit', 'few-replicas'])
    return parsed
  }

  test('an override with a reason allows a denied change and is recorded', () => {
    const { results } = judgePolicies([policy(MOST_2)], [{ after: project([sized(4)]) }], {
      overrides: overrides('limit=load test'),
    })
    expect(results).toMatchObject([{ outcome: 'overridden', override: 'load test' }])
    expect(unusedOverrides(overrides('limit=load test', 'few-replicas=x'), results)).toEqual(['few-replicas'])
  })

  test.each([
    ['limit', "The override `limit` must be a policy's name, `=`, and a reason of 1 to 200 characters."],
    ['limit= ', "The override `limit= ` must be a policy's name, `=`, and a reason of 1 to 200 characters."],
    ['=why', "The override `=why` must be a policy's name, `=`, and a reason of 1 to 200 characters."],
    ['limmit=why', 'There is no policy `limmit` to override.'],
  ])('the override %j is rejected: %s', (word, message) => {
    expect(() => overrides(word)).toThrow(message)
  })
})
