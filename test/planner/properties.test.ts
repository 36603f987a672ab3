import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plan } from '../../src/planner/index.ts'
import { isLong, runs } from '../long-runs.ts'
import { liveWorld, manifest, planned } from './arbitraries.ts'
import { observe, perform, shuffled, start } from './simulator.ts'
import { desired } from './world.ts'

const RUNS = { numRuns: runs(2_000) }

test.runIf(isLong)('enough random manifests can be planned for these properties to be meaningful', () => {
  const results = fc
    .sample(fc.tuple(manifest, liveWorld), { numRuns: 100, seed: 7 })
    .map(([document, live]) => planned(document, live))
  expect(results.filter((result) => result !== undefined && result.plan.steps.length > 0).length).toBeGreaterThan(20)
})

test('running the steps in any allowed order breaks no API rule, and the next plan is empty', () => {
  fc.assert(
    fc.property(manifest, liveWorld, fc.array(fc.nat(), { minLength: 1, maxLength: 12 }), (document, live, picks) => {
      const made = planned(document, live)
      if (made === undefined) return
      const runnable = made.plan.steps.filter(({ refused }) => refused === undefined)
      for (const order of [made.plan.steps, shuffled(made.plan.steps, picks)]) {
        let state = start(made.observed)
        for (const step of order) state = perform(state, step)
        if (runnable.length < made.plan.steps.length) continue
        const aliases = Object.fromEntries(
          made.plan.changes
            .filter(({ kind }) => kind === 'replace')
            .map(({ id, compute }) => [compute.id ?? '', state.made.get(`${id}#2`) ?? '']),
        )
        const again = plan(desired(document), observe(made.observed, state), { pinAliases: aliases })
        expect(again.ok && again.plan.steps).toEqual([])
      }
    }),
    RUNS,
  )
})

test('every step is listed after the steps that it depends on', () => {
  fc.assert(
    fc.property(manifest, liveWorld, (document, live) => {
      const done = new Set<string>()
      for (const step of planned(document, live)?.plan.steps ?? []) {
        for (const id of step.after) expect(done).toContain(id)
        done.add(step.id)
      }
    }),
    RUNS,
  )
})

test('a compute is deleted only because of `prune` or `absent`', () => {
  fc.assert(
    fc.property(manifest, liveWorld, (document, live) => {
      for (const change of planned(document, live)?.plan.changes ?? []) {
        if (change.kind !== 'delete') continue
        const declaredShape = document.branches?.[change.branch.name]
        expect(document.prune || declaredShape?.primary === 'absent').toBe(true)
      }
    }),
    RUNS,
  )
})
