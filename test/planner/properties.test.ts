import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Observed } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { liveWorld, manifest, planned } from './arbitraries.ts'
import { observe, perform, shuffled, start } from './simulator.ts'
import { type Declared, type DeclaredDocument, desired, type LiveCompute, world } from './world.ts'

const RUNS = { numRuns: 2_000 }

test('enough of the random manifests have a plan for the properties below to mean something', () => {
  const results = fc
    .sample(fc.tuple(manifest, liveWorld), { numRuns: 500, seed: 7 })
    .map(([document, live]) => planned(document, live))
  expect(results.filter((result) => result !== undefined && result.plan.steps.length > 0).length).toBeGreaterThan(100)
})

test('no order that the graph allows breaks a rule of the API on the way, and planning again finds nothing', () => {
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

test('the steps stand in an order that the graph allows', () => {
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

test('the plan does not depend on the order in which anything is listed', () => {
  const reversed = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).reverse())
  fc.assert(
    fc.property(manifest, liveWorld, (document, live) => {
      const observed = world(live)
      const turned: DeclaredDocument = {
        ...document,
        branches: reversed(
          Object.fromEntries(
            Object.entries(document.branches ?? {}).map(([name, one]) => [
              name,
              { ...one, replicas: reversed(one.replicas ?? {}) },
            ]),
          ),
        ),
      }
      const mirrored: Observed = {
        ...observed,
        projects: observed.projects.map((project) => ({
          ...project,
          branches: [...project.branches].reverse(),
          computes: [...project.computes].reverse(),
        })),
      }
      const [one, other] = [plan(desired(document), observed), plan(desired(turned), mirrored)]
      expect(JSON.stringify(other)).toBe(JSON.stringify(one))
    }),
    RUNS,
  )
})

test('nothing is deleted that prune or `absent` does not name', () => {
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

/** Every way to give live replicas to declared ones, and the least restarts that any of them takes. */
const leastRestarts = (wanted: readonly (readonly [string, Declared])[], live: readonly LiveCompute[]): number => {
  const [first, ...rest] = wanted
  if (first === undefined || live.length === 0) return 0
  const [, ask] = first
  const same = (compute: LiveCompute): boolean =>
    compute.state === 'idle' || ask.size === undefined || JSON.stringify(ask.size) === JSON.stringify(compute.size ?? 1)
  const options = live.map(
    (compute, index) =>
      (same(compute) ? 0 : 1) +
      leastRestarts(
        rest,
        live.filter((_, at) => at !== index),
      ),
  )
  // With more declarations than live computes some are created, which restarts nothing.
  return Math.min(...options, ...(wanted.length > live.length ? [leastRestarts(rest, live)] : []))
}

test('nameless replicas are adopted with the least restarts possible', () => {
  const nameless = fc
    .record({ size: fc.constantFrom(0.25, 1, 2), state: fc.constantFrom('active' as const, 'idle' as const) })
    .map((one): LiveCompute => one)
  const wanted = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record({ size: fc.constantFrom(0.25, 1, 2) }), {
    minKeys: 1,
    maxKeys: 4,
  })
  fc.assert(
    fc.property(wanted, fc.array(nameless, { maxLength: 4 }), (replicas, live) => {
      const made = planned({ branches: { main: { replicas } } }, { main: { replicas: live } })
      expect(made?.plan.summary.restarts).toBe(leastRestarts(Object.entries(replicas), live))
    }),
    RUNS,
  )
})
