/** Saved plans once time has passed, a policy has changed, or an override is missing. */
import { describe, expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import type { EspalierError, Observed } from '../../src/model/index.ts'
import { planSnapshot } from '../../src/workflow/index.ts'
import type { ReviewOptions } from '../../src/workflow/review.ts'
import { checkSavedPlan, savedPlanOf } from '../../src/workflow/saved-plan.ts'
import { PROJECT, world } from '../planner/world.ts'

const START = Date.parse('2026-11-21T00:00:00Z')
const minutes = (count: number): string => new Date(START + count * 60_000).toISOString()

/** @param expires of preview/x, in minutes from the start. */
const live = (at: number, expires?: number): Observed => {
  const observed = world({
    main: { primary: { id: 'ep-main', size: 1, scaleToZero: -1, settings: { work_mem: '4MB' } } },
    'preview/x': { primary: { id: 'ep-x', size: 1 } },
  })
  return {
    ...observed,
    takenAt: minutes(at),
    projects: observed.projects.map((project) => ({
      ...project,
      branches: project.branches.map((branch) =>
        branch.name === 'main' || expires === undefined ? branch : { ...branch, expiresAt: minutes(expires) },
      ),
    })),
  }
}

const manifests = (branches: string, review: ReviewOptions = {}) => ({
  loaded: parseManifests([{ path: 'espalier.yaml', text: `version: 1\nproject: ${PROJECT}\nbranches:\n${branches}` }]),
  paths: ['espalier.yaml'],
  review,
})
const policies = (rule: string) => ({
  files: ['espalier.policy.yaml'],
  policies: parsePolicies([
    {
      path: 'espalier.policy.yaml',
      text: `version: 1\npolicies:\n  - { name: limit, level: deny, reason: Because., rule: { ${rule} } }\n`,
    },
  ]).policies,
})

const BOTH = '  main: { primary: { size: 2 } }\n  preview/x: { primary: { size: 2 } }\n'

type Side = readonly [observed: Observed, branches: string, review?: ReviewOptions]

/** What `apply --plan` says of a plan that was made on one side, on the other. */
const verdict = ([then, ...made]: Side, [now, ...applied]: Side): string => {
  const saved = savedPlanOf(planSnapshot(then, manifests(...made)))
  try {
    checkSavedPlan(saved, planSnapshot(now, manifests(...applied)))
    return 'current'
  } catch (error) {
    const { code, message } = error as EspalierError
    return `${code} ${message}`
  }
}

describe('a branch that expires', () => {
  test('and by now has too little left makes the plan stale, and says why', () => {
    const said = verdict([live(0, 120), BOTH], [live(90, 120), BOTH])
    expect(said).toMatch(/^E_STALE/)
    expect(said).toContain('preview/x expires in 30 min.')
  })

  test('with a skipped change still skips it, with less time left', () => {
    expect(verdict([live(0, 40), BOTH], [live(30, 40), BOTH])).toBe('current')
  })

  test('and now stays, or stays longer, makes the plan stale: its change would be made', () => {
    expect(verdict([live(0, 40), BOTH], [live(10), BOTH])).toMatch(/^E_STALE/)
    expect(verdict([live(0, 40), BOTH], [live(10, 600), BOTH])).toMatch(/^E_STALE/)
  })
})

describe('policies', () => {
  const SMALL = { policies: policies('maxSize: 1') }
  const overrides = new Map([['limit', 'load test']])

  test('that did not deny and now do make the plan stale', () => {
    const said = verdict([live(0), BOTH, { policies: policies('maxSize: 4') }], [live(1), BOTH, SMALL])
    expect(said).toMatch(/^E_STALE/)
    expect(said).toContain('`limit` denies 2 CU for primary on main (at most 1 CU)')
  })

  test('whose override is now missing make the plan stale, with a hint to pass it', () => {
    const made = { ...SMALL, overrides, actor: 'ann' }
    expect(verdict([live(0), BOTH, made], [live(1), BOTH, { ...made, actor: 'ben' }])).toBe('current')
    const said = verdict([live(0), BOTH, made], [live(1), BOTH, SMALL])
    expect(said).toMatch(/^E_STALE/)
    expect(said).toContain('`limit` denies 2 CU for primary on main (at most 1 CU)')
  })

  test('that denied and no longer do make the plan stale: it would now run', () => {
    expect(verdict([live(0), BOTH, SMALL], [live(1), BOTH, {}])).toMatch(/^E_STALE/)
  })
})

test('a compute that was restarted meanwhile still has its settings', () => {
  const restarted = live(1)
  const observed = {
    ...restarted,
    projects: restarted.projects.map((project) => ({
      ...project,
      computes: project.computes.map((compute) => ({ ...compute, startedAt: minutes(1) })),
    })),
  }
  const said = verdict(
    [live(0), BOTH],
    [observed, BOTH.replace('main: { primary: { size: 2', 'main: { primary: { size: 4')],
  )
  expect(said).toContain('The manifests have changed.')
  expect(said).not.toContain('settings')
})
