/** Saved plans after time has passed, after a policy has changed, or without their override. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EspalierError } from '../../src/base/index.ts'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import type { Observed } from '../../src/model/index.ts'
import { planSnapshot } from '../../src/workflow/index.ts'
import type { JudgeOptions } from '../../src/workflow/judge-plan.ts'
import { checkSavedPlan, readSavedPlan, savedPlanOf } from '../../src/workflow/saved-plan.ts'
import { PROJECT, world } from '../planner/world.ts'

const START = Date.parse('2026-11-21T00:00:00Z')
const minutes = (count: number): string => new Date(START + count * 60_000).toISOString()

/** @param expires when preview/x expires, in minutes from the start. */
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

const manifests = (branches: string, review: JudgeOptions = {}) => ({
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

type Side = readonly [observed: Observed, branches: string, review?: JudgeOptions]

/** Checks a plan that was saved in one state against another state. */
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

test('a saved plan whose changes are all in place already says so', () => {
  const done = world({ main: { primary: { id: 'ep-main', size: 2 } } })
  const before = world({ main: { primary: { id: 'ep-main', size: 1 } } })
  const main = '  main: { primary: { size: 2 } }\n'
  expect(verdict([before, main], [done, main])).toMatch(
    /is stale: it seems to have been applied already, because the project matches the manifests; nothing was changed\./,
  )
})

describe('a saved plan with an expiring branch', () => {
  test('is stale if the branch now expires too soon', () => {
    const said = verdict([live(0, 120), BOTH], [live(90, 120), BOTH])
    expect(said).toMatch(/^E_STALE/)
    expect(said).toContain('preview/x expires in 30 min.')
  })

  test('still skips a change if the branch has even less time left', () => {
    expect(verdict([live(0, 40), BOTH], [live(30, 40), BOTH])).toBe('current')
  })

  test('is stale if the branch no longer expires, or expires later', () => {
    expect(verdict([live(0, 40), BOTH], [live(10), BOTH])).toMatch(/^E_STALE/)
    expect(verdict([live(0, 40), BOTH], [live(10, 600), BOTH])).toMatch(/^E_STALE/)
  })
})

describe('a saved plan with policies', () => {
  const SMALL = { policies: policies('maxSize: 1') }
  const overrides = new Map([['limit', 'load test']])

  test('is stale if a policy now denies it', () => {
    const said = verdict([live(0), BOTH, { policies: policies('maxSize: 4') }], [live(1), BOTH, SMALL])
    expect(said).toMatch(/^E_STALE/)
    expect(said).toContain('`limit` denies 2 CU for primary on main (at most 1 CU)')
  })

  test('is stale if its override is missing, and the error names the violation', () => {
    const made = { ...SMALL, overrides, actor: 'ann' }
    expect(verdict([live(0), BOTH, made], [live(1), BOTH, { ...made, actor: 'ben' }])).toBe('current')
    const said = verdict([live(0), BOTH, made], [live(1), BOTH, SMALL])
    expect(said).toMatch(/^E_STALE/)
    expect(said).toContain('`limit` denies 2 CU for primary on main (at most 1 CU)')
  })

  test('is stale if a policy no longer denies it', () => {
    expect(verdict([live(0), BOTH, SMALL], [live(1), BOTH, {}])).toMatch(/^E_STALE/)
  })
})

test('restarting a compute does not make a saved plan stale', () => {
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

test('a stale plan lists at most 30 changes', () => {
  const names = Array.from({ length: 31 }, (_, at) => `b${at}`)
  const sized = (size: number, count: number) =>
    world(Object.fromEntries(names.slice(0, count).map((name) => [name, { primary: { id: `ep-${name}`, size } }])))
  const declared = (count: number) =>
    names
      .slice(0, count)
      .map((name) => `  ${name}: { primary: { size: 4 } }\n`)
      .join('')
  const lines = (count: number) =>
    verdict([sized(1, count), declared(count)], [sized(2, count), declared(count)]).split('\n       - ')
  expect(lines(30).slice(1)).toHaveLength(30)
  expect(lines(30).at(-1)).toContain('b')
  expect(lines(31).slice(1)).toHaveLength(31)
  expect(lines(31).at(-1)).toBe('and 1 more')
})

test('a file that is missing or a snapshot is not a saved plan', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'saved-plan-')), 'live.json')
  const rejected = (words: RegExp) => ({ code: 'E_PLAN_FILE', message: expect.stringMatching(words) })
  await expect(readSavedPlan('plan.json', path)).rejects.toMatchObject(rejected(/^The plan plan\.json cannot be read/))
  writeFileSync(path, '{"kind":"espalier-snapshot","formatVersion":1}')
  await expect(readSavedPlan(path)).rejects.toMatchObject(rejected(/is a snapshot, not a saved plan/))
})
