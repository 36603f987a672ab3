import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Observed, Plan, Step } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { observe, perform, start } from './simulator.ts'
import {
  branchId,
  type Declared,
  type DeclaredDocument,
  type DeclaredShape,
  desired,
  type LiveBranch,
  type LiveCompute,
  world,
} from './world.ts'

const BRANCHES = ['main', 'staging', 'preview/1', 'preview/2', 'park']
const NAMES = ['a', 'b', 'c']
const sizes = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(0.25, 1, 2, { min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constant(24) },
)

const attributes = fc.record(
  { size: sizes, scaleToZero: fc.constantFrom(0, 300, -1, 600), settings: fc.constantFrom({}, { work_mem: '64MB' }) },
  { requiredKeys: [] },
)

const liveCompute: fc.Arbitrary<LiveCompute> = fc
  .record({
    attributes,
    state: fc.constantFrom('active', 'idle'),
    name: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
  })
  .map(
    ({ attributes: own, state, name }): LiveCompute => ({
      ...own,
      ...(own.size === 24 ? { scaleToZero: -1 } : {}),
      state,
      ...(name === undefined ? {} : { name }),
    }),
  )

const liveWorld: fc.Arbitrary<Record<string, LiveBranch>> = fc
  .tuple(
    ...BRANCHES.map(() =>
      fc.record({
        primary: fc.option(liveCompute, { nil: undefined }),
        replicas: fc.array(liveCompute, { maxLength: 3 }),
      }),
    ),
  )
  .map((branches) =>
    Object.fromEntries(
      branches.map(({ primary, replicas }, index): [string, LiveBranch] => [
        BRANCHES[index] ?? '',
        // A branch to park on is one without a primary.
        { replicas, ...(primary === undefined || BRANCHES[index] === 'park' ? {} : { primary }) },
      ]),
    ),
  )

/** Ids that `world` gives, of which some are there and some are not. */
const pins = fc.constantFrom(
  ...BRANCHES.slice(0, 4).map((name) => `ep-${branchId(name)}`),
  ...BRANCHES.map((name) => `ep-${branchId(name)}-0`),
)

const declared: fc.Arbitrary<Declared> = fc
  .record({
    attributes,
    id: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: pins }),
  })
  .map(({ attributes: own, id }) => ({ ...own, ...(id === undefined ? {} : { id }) }))

const shape: fc.Arbitrary<DeclaredShape> = fc
  .record({
    primary: fc.option(
      fc.oneof({ weight: 4, arbitrary: declared }, { weight: 1, arbitrary: fc.constant('absent' as const) }),
      {
        nil: undefined,
      },
    ),
    replicas: fc.dictionary(fc.constantFrom(...NAMES), declared, { maxKeys: 3 }),
  })
  .map(({ primary, replicas }) => ({ replicas, ...(primary === undefined ? {} : { primary }) }))

const manifest: fc.Arbitrary<DeclaredDocument> = fc
  .record({
    branches: fc.dictionary(fc.constantFrom(...BRANCHES.slice(0, 4)), shape, { minKeys: 1, maxKeys: 4 }),
    rule: fc.option(
      declared.map(({ id: _pin, ...primary }) => ({ match: 'preview/*', primary })),
      { nil: undefined },
    ),
    prune: fc.boolean(),
    parkOn: fc.option(fc.constant('park'), { nil: undefined }),
  })
  .map(({ branches, rule, prune, parkOn }) => ({
    branches,
    prune,
    ...(rule === undefined ? {} : { rules: [rule] }),
    ...(parkOn === undefined ? {} : { parkOn }),
  }))

/** Runs for cases that have a plan; the arbitraries are made so that enough of them do. */
const planned = (
  declaredDocument: DeclaredDocument,
  live: Record<string, LiveBranch>,
): { plan: Plan; observed: Observed } | undefined => {
  const observed = world(live)
  const result = plan(desired(declaredDocument), observed)
  return result.ok ? { plan: result.plan, observed } : undefined
}

/** Some order that the graph allows, drawn from `picks`. */
const shuffled = (steps: readonly Step[], picks: readonly number[]): readonly Step[] => {
  const left = [...steps]
  const done = new Set<string>()
  const order: Step[] = []
  for (let turn = 0; left.length > 0; turn += 1) {
    const ready = left.filter(({ after }) => after.every((id) => done.has(id)))
    const step = ready[(picks[turn % picks.length] ?? 0) % ready.length]
    if (step === undefined) throw new Error('the graph has a circle')
    left.splice(left.indexOf(step), 1)
    done.add(step.id)
    order.push(step)
  }
  return order
}

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
