/** Policies that limit what a plan does. */
import { describe, expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import type { Observed, Plan } from '../../src/model/index.ts'
import { type Manifests, planSnapshot, withReview } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

const NOW = '2026-11-21T00:00:00Z'
const CONTEXT = { env: { USER: 'ann' } }

/** Two computes that are always active, and an idle one. Only the usage of main is known. */
const LIVE: Observed = {
  ...world({
    main: { primary: { size: 1, scaleToZero: -1 } },
    big: { primary: { size: 8, scaleToZero: -1 } },
    idle: { primary: { size: 1, state: 'idle' } },
  }),
  takenAt: NOW,
}

const twice = (observed: Observed): Observed => ({
  ...observed,
  projects: observed.projects.flatMap((project) => [
    { ...project, name: 'shop' },
    { ...project, id: 'other-1', name: 'other' },
  ]),
})

const policies = (rule: string, more = '') => {
  const text = `version: 1\npolicies:\n  - { name: limit, level: deny, reason: Calm., rule: { ${rule} }${more} }\n`
  const { policies: read, diagnostics } = parsePolicies([{ path: 'p.yaml', text }])
  expect(diagnostics).toEqual([])
  return { files: ['p.yaml'], policies: read }
}

const manifests = (branches: string, review: Manifests['review'] = {}, projects = `project: ${PROJECT}`): Manifests => {
  const text = `version: 1\n${projects}\n${branches}`
  return { loaded: parseManifests([{ path: 'espalier.yaml', text }]), paths: ['espalier.yaml'], review }
}

const planOf = (branches: string, rule: string, more = ''): Plan =>
  planSnapshot(LIVE, manifests(branches, { policies: policies(rule, more) })).result.plan

const messages = ({ policies: judged }: Plan) => judged?.results.map(({ outcome, message }) => `${outcome}: ${message}`)

const GROW = 'branches: { main: { primary: { size: 4 } } }\n'
const DELETE = 'branches: { big: { primary: absent } }\n'

describe('a limit on a plan', () => {
  test.each([
    ['restarts', GROW, 'maxRestarts: 1', []],
    ['too many restarts', GROW, 'maxRestarts: 0', ['denied: `limit` denies restarting 1 compute (at most 0)']],
    ['a change to an idle compute', 'branches: { idle: { primary: { size: 2 } } }\n', 'maxRestarts: 0', []],
    ['too many deletes', DELETE, 'maxDeletes: 0', ['denied: `limit` denies deleting 1 compute (at most 0)']],
    ['deletes, which are not restarts', DELETE, 'maxRestarts: 0', []],
    ['growth', GROW, 'maxCuIncrease: 3', []],
    ['too much growth', GROW, 'maxCuIncrease: 2.5', ['denied: `limit` denies adding 3 CU (at most 2.5 CU)']],
    [
      'a compute without a size',
      'branches: { main: { replicas: { r: {} } } }\n',
      'maxCuIncrease: 9',
      ['denied: `limit` denies creating a compute without a size (at most 9 CU)'],
    ],
    ['more CU-hours', GROW, 'maxCuHoursIncrease: 2190', []],
    [
      'too many CU-hours',
      GROW,
      'maxCuHoursIncrease: 2189.5',
      ['denied: `limit` denies adding 2190 CU-hours (at most 2189.5 a month)'],
    ],
    [
      'CU-hours that are unknown, at their maximum',
      'branches: { main: { replicas: { r: { size: 2, scaleToZero: 5m } } } }\n',
      'maxCuHoursIncrease: 10',
      ['denied: `limit` denies adding up to 1460 CU-hours (at most 10 a month)'],
    ],
    [
      'a range that becomes smaller, whatever its usage',
      'branches: { idle: { primary: { size: 0.5, scaleToZero: 5m } } }\n',
      'maxCuHoursIncrease: 0',
      [],
    ],
    [
      'CU-hours without a maximum',
      'branches: { main: { replicas: { r: {} } } }\n',
      'maxCuHoursIncrease: 10',
      ['denied: `limit` denies adding an unknown number of CU-hours (at most 10 a month)'],
    ],
  ])('is compared with %s', (_, branches, rule, expected) => {
    expect(messages(planOf(branches, rule))).toEqual(expected)
  })

  test('refuses every change of every project, so nothing is counted and nothing costs more', () => {
    const both = manifests(GROW, { policies: policies('maxRestarts: 1') }, `projects: [${PROJECT}, other-1]`)
    const { plan } = planSnapshot(twice(LIVE), both).result
    expect(messages(plan)).toEqual(['denied: `limit` denies restarting 2 computes (at most 1)'])
    expect(plan.steps.map(({ refused }) => refused)).toEqual([
      '`limit` denies restarting 2 computes (at most 1). Calm',
      '`limit` denies restarting 2 computes (at most 1). Calm',
    ])
    expect(plan.summary).toMatchObject({ update: 0, restarts: 0, refused: 2 })
    expect(plan.summary.capacity.after).toEqual(plan.summary.capacity.before)
    expect(plan.cost?.total.delta).toMatchObject({ expected: 0 })
  })

  test('counts only the projects that it selects', () => {
    const review = { policies: policies('maxRestarts: 1', ', projects: [other-*]') }
    const { plan } = planSnapshot(twice(LIVE), manifests(GROW, review, `projects: [${PROJECT}, other-1]`)).result
    expect(messages(plan)).toEqual([])
  })

  test('only warns with `level: warn`', () => {
    const [policy] = policies('maxRestarts: 0').policies
    if (policy === undefined) throw new Error('no policy')
    const review = { policies: { files: [], policies: [{ ...policy, level: 'warn' as const }] } }
    const { plan } = planSnapshot(LIVE, manifests(GROW, review)).result
    expect(messages(plan)).toEqual(['warned: `limit` warns about restarting 1 compute (at most 0)'])
    expect(plan.summary).toMatchObject({ update: 1, restarts: 1, refused: 0 })
  })

  test('is overridden like any other policy', () => {
    const review = { policies: policies('maxRestarts: 0'), overrides: new Map([['limit', 'release']]), actor: 'ann' }
    const { plan } = planSnapshot(LIVE, manifests(GROW, review)).result
    expect(plan.policies?.results).toMatchObject([{ outcome: 'overridden', override: 'release', overriddenBy: 'ann' }])
    expect(plan.summary.restarts).toBe(1)
    expect(plan.warnings.map(({ code }) => code)).not.toContain('W_OVERRIDE_UNUSED')
  })
})

describe('a refused change counts nowhere', () => {
  const PROTECTED = 'branches:\n  big: { protect: true, primary: absent }\n'

  test('a refused delete does not make room for growth', () => {
    const plan = planOf(`${PROTECTED}  main: { primary: { size: 9 } }\n`, 'maxCuIncrease: 0')
    expect(messages(plan)).toEqual(['denied: `limit` denies adding 8 CU (at most 0 CU)'])
  })

  test('a refused delete of a replica does not make room for another replica on the account plan', () => {
    const replicas = ['a', 'b', 'c'].map((name) => ({ name, size: 0.25 }))
    const live = world({ main: { primary: { size: 1 }, replicas } })
    const branch = (protect: boolean) =>
      manifests(`tier: free\nbranches: { main: { protect: ${protect}, replicas: { a: absent, d: { size: 1 } } } }\n`)
    const warnings = (protect: boolean) =>
      planSnapshot(live, branch(protect)).result.plan.warnings.map(({ message }) => message)
    expect(warnings(false)).toEqual([])
    expect(warnings(true)).toEqual([expect.stringContaining('the project would have 4.')])
  })

  test('a refused delete does not exceed a limit on deletes', () => {
    const plan = planOf(`${PROTECTED}  main: { primary: { size: 2 } }\n`, 'maxDeletes: 0')
    expect(messages(plan)).toEqual([])
    expect(plan.summary).toMatchObject({ update: 1, delete: 0, refused: 1 })
  })

  test('a change that another policy denies does not count towards a limit', () => {
    const both = {
      files: [],
      policies: [...policies('maxSize: 2', ', branches: [main]').policies, ...policies('maxRestarts: 0').policies],
    }
    const { plan } = planSnapshot(LIVE, manifests(GROW, { policies: both })).result
    expect(messages(plan)).toEqual(['denied: `limit` denies 4 CU for primary on main (at most 2 CU)'])
  })
})

describe('a limit of a day', () => {
  test('includes what was done before', () => {
    const review = { policies: policies('maxRestarts: 2', ', per: day'), used: { maxRestarts: 2 } }
    expect(messages(planSnapshot(LIVE, manifests(GROW, review)).result.plan)).toEqual([
      'denied: `limit` denies restarting 3 computes (at most 2 in 24 hours)',
    ])
    expect(messages(planSnapshot(LIVE, manifests(DELETE, review)).result.plan)).toEqual([])
  })

  test('of the base is not applied to a single plan, so that a pull request can remove it', () => {
    const base = manifests(GROW, { policies: policies('maxRestarts: 0', ', per: day') })
    const { plan } = planSnapshot(LIVE, manifests(GROW, { policies: policies('maxRestarts: 9') }), { base }).result
    expect(messages(plan)).toEqual([])
  })

  test('is rejected outside the agent', async () => {
    const all = manifests(GROW, { policies: policies('maxRestarts: 2', ', per: day') })
    await expect(withReview(all, {}, CONTEXT)).rejects.toMatchObject({ code: 'E_POLICY_RULE' })
  })
})

describe('--max-restarts', () => {
  test('is a policy that can be overridden', async () => {
    const denied = await withReview(manifests(GROW), { maxRestarts: 0 }, CONTEXT)
    const { plan } = planSnapshot(LIVE, denied).result
    expect(messages(plan)).toEqual(['denied: `max-restarts` denies restarting 1 compute (at most 0)'])
    const settings = { maxRestarts: 0, override: ['max-restarts=release'] }
    const overridden = await withReview(manifests(GROW), settings, CONTEXT)
    expect(planSnapshot(LIVE, overridden).result.plan.summary).toMatchObject({ restarts: 1, refused: 0 })
  })
})
