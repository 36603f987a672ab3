/** Whole rounds, for random manifests and live projects. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adopted, type ProjectRecord, refreshed } from '../../src/agent/decide/origin.ts'
import { decideRound, type Round } from '../../src/agent/decide/round.ts'
import type { AgentPolicy } from '../../src/agent/decide/table.ts'
import { CONSENTS, type Desired, type Observed, type PolicyResult } from '../../src/model/index.ts'
import { differenceKey, factsOf, plan } from '../../src/planner/index.ts'
import { runs } from '../long-runs.ts'
import { liveWorld, manifest } from '../planner/arbitraries.ts'
import { type DeclaredDocument, desired, type LiveBranch, world } from '../planner/world.ts'

const EVERYTHING: AgentPolicy = { onGit: 'apply', onDrift: 'revert', allow: new Set(CONSENTS) }
const NOW = Date.parse('2026-11-22T12:00:00Z')
const CONFIRMED = { firstSeenAt: NOW - 120_000, fetchedAt: NOW - 60_000, refreshedAt: NOW, isChanging: false }

const recordOf = (wanted: Desired, observed: Observed, before?: ProjectRecord) => {
  const [project] = observed.projects
  if (project === undefined) throw new Error('no project')
  const facts = factsOf(wanted, project)
  return refreshed(before, { facts, program: '1', manifests: 'a', rules: [], newestBranch: '', created: new Set() })
}

interface More {
  readonly mayInterrupt?: boolean
  /** Whether drift was seen long enough. */
  readonly isSeen?: boolean
  readonly outcome?: PolicyResult['outcome']
}

const round = (
  wanted: Desired,
  observed: Observed,
  record: ProjectRecord,
  policy: Partial<AgentPolicy> = {},
  { mayInterrupt = true, isSeen = true, outcome }: More = {},
): Round =>
  decideRound({
    plan: (select) => ({
      ...plan(wanted, observed, select === undefined ? {} : { select }).plan,
      ...(outcome && { policies: { files: [], results: [{ outcome } as PolicyResult], changes: [] } }),
    }),
    known: {
      record,
      refusals: [],
      reverts: [],
      sightings: Object.fromEntries(isSeen ? Object.keys(record.entries).map((key) => [key, CONFIRMED]) : []),
    },
    situation: {
      policy: { ...EVERYTHING, ...policy },
      isSuspended: false,
      isInvalid: false,
      history: 'known',
    },
    steps: { now: NOW, isWaveHeld: false, mayInterrupt: () => mayInterrupt, chainMs: () => 0 },
  })

const anyRound = (check: (wanted: Desired, live: Observed, other: Observed) => void): void =>
  fc.assert(
    fc.property(manifest, liveWorld, liveWorld, (document, one, other) => {
      const wanted = desired(document)
      const [live, later] = [world(one), world(other)]
      if (plan(wanted, live).ok && plan(wanted, later).ok) check(wanted, live, later)
    }),
    { numRuns: runs(1_000) },
  )

describe('for random manifests and live projects', () => {
  test('every difference in a plan is a fact that disagrees, and a plan without differences leaves no such fact', () => {
    anyRound((wanted, live) => {
      const [project] = live.projects
      const keys = plan(wanted, live).plan.changes.flatMap((change) =>
        change.kind === 'update'
          ? change.attributes.map((attribute) => differenceKey(change, attribute))
          : [differenceKey(change)],
      )
      const facts = project === undefined ? [] : factsOf(wanted, project)
      const disagreeing = new Set(facts.filter(({ agrees }) => !agrees).map(({ key }) => key))
      for (const key of keys) expect(disagreeing).toContain(key)
      if (keys.length === 0) expect(disagreeing.size).toBe(0)
    })
  })

  test('the first round only creates computes, and adoption adds all the rest', () => {
    anyRound((wanted, live) => {
      const first = recordOf(wanted, live)
      const { plan: left } = round(wanted, live, first)
      expect(left.changes.filter(({ kind }) => kind !== 'create')).toEqual([])
      expect(round(wanted, live, adopted(first, first)).plan).toEqual(plan(wanted, live).plan)
    })
  })

  test('no manual change is reverted when the agent only reports drift', () => {
    anyRound((wanted, before, after) => {
      const synced = recordOf(wanted, before)
      const record = recordOf(wanted, after, synced)
      const { plan: left } = round(wanted, after, record, { onDrift: 'report' })
      for (const change of left.changes) {
        const parts = change.kind === 'update' ? change.attributes : [undefined]
        for (const part of parts) {
          const entry = record.entries[differenceKey(change, part)]
          expect(entry?.base).toEqual(entry?.seen)
        }
      }
    })
  })
})

const live = (size: number, name?: string): Record<string, LiveBranch> => ({
  main: { primary: { size, scaleToZero: 0, ...(name === undefined ? {} : { name }) } },
})
const sized = (size: number): DeclaredDocument => ({ branches: { main: { primary: { size, scaleToZero: 600 } } } })

test('a commit is applied without touching drift of the same compute', () => {
  const before = recordOf(desired({ branches: { main: { primary: { size: 1, scaleToZero: 0 } } } }), world(live(1)))
  const drifted = recordOf(
    desired({ branches: { main: { primary: { size: 1, scaleToZero: 0 } } } }),
    world(live(2)),
    before,
  )
  const record = recordOf(desired(sized(1)), world(live(2)), drifted)
  const { plan: left, status } = round(desired(sized(1)), world(live(2)), record, { onDrift: 'report' })
  expect(left.changes.map(({ attributes }) => attributes.map(({ path }) => path))).toEqual([['scaleToZero']])
  expect(left.steps.map(({ impact }) => impact)).toEqual(['none'])
  expect(status).toMatchObject({ state: 'Progressing' })
})

test.each<[string, More, steps: readonly string[], verdicts: readonly string[], exhausted: number]>([
  ['runs', {}, ['create', 'update'], ['run', 'run'], 0],
  ['of a plan with a warning runs', { outcome: 'warned' }, ['create', 'update'], ['run', 'run'], 0],
  ['of a denied plan is skipped', { outcome: 'denied' }, ['create', 'update'], ['skip', 'skip'], 0],
  ['that was tried too often is left out', { mayInterrupt: false }, ['create'], ['run', 'skip'], 1],
])('a step %s', (_, more, kinds, actions, exhausted) => {
  const observed = world({ ...live(1), dev: {} })
  const before = recordOf(desired({ branches: { main: { primary: { size: 1, scaleToZero: 0 } } } }), observed)
  const wanted = desired({ branches: { ...sized(2).branches, dev: { primary: { size: 1 } } } })
  const decided = round(wanted, observed, recordOf(wanted, observed, before), {}, more)
  expect(decided.plan.steps.map(({ kind }) => kind).toSorted()).toEqual(kinds)
  expect([...decided.steps.values()].map(({ action }) => action).toSorted()).toEqual(actions)
  expect(decided.exhausted).toHaveLength(exhausted)
})

test.each([
  [true, 'plan'],
  [false, 'hold'],
])('drift that was seen long enough (%s) has the verdict %s', (isSeen, action) => {
  const wanted = desired({ branches: { main: { primary: { scaleToZero: 0 } } } })
  const drifted = world({ main: { primary: { scaleToZero: 600 } } })
  const record = recordOf(wanted, drifted, recordOf(wanted, world(live(1))))
  expect([...round(wanted, drifted, record, {}, { isSeen }).verdicts.values()]).toMatchObject([{ action }])
})
