/** Random rearrangements of primaries: chains, cycles, parking, deletions that free a branch, and missing consents. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CONSENTS, type Consent, type Observed, type Step } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { expectEnough, runs } from '../long-runs.ts'
import { observe, perform, type Simulated, shuffled, start } from './simulator.ts'
import { branchId, type DeclaredShape, desired, type LiveBranch, world } from './world.ts'

const PARK = 'park'

interface Rearrangement {
  /** The live branches by name, in addition to `park`. */
  readonly branches: Readonly<Record<string, LiveBranch>>
  readonly declared: Readonly<Record<string, DeclaredShape>>
  /** The branch that each compute is pinned to. */
  readonly pinned: ReadonlyMap<string, string>
  readonly parkOn: boolean
}

const mostly = fc.nat({ max: 4 }).map((one) => one > 0)
const seldom = fc.nat({ max: 9 }).map((one) => one === 0)

const rearrangement: fc.Arbitrary<Rearrangement> = fc
  .record({
    cells: fc.array(
      fc.record({
        primary: mostly,
        state: fc.constantFrom('active' as const, 'idle' as const),
        size: fc.constantFrom(1, 2),
        pinned: mostly,
        protect: seldom,
        shielded: seldom,
        resize: fc.boolean(),
      }),
      { minLength: 2, maxLength: 6 },
    ),
    order: fc.infiniteStream(fc.nat({ max: 1_000 })).map((stream) => [...stream.take(6)]),
    parkOn: fc.boolean(),
  })
  .map(({ cells, order, parkOn }) => {
    const name = (index: number): string => `b${index}`
    const places = cells.map((_, index) => index).sort((a, b) => (order[a] ?? 0) - (order[b] ?? 0) || a - b)
    const pinned = new Map<string, string>()
    const declared: Record<string, DeclaredShape> = {}
    for (const [index, cell] of cells.entries()) {
      const target = name(places[index] ?? 0)
      if (cell.primary && cell.pinned) pinned.set(`ep-${index}`, target)
      declared[name(index)] = { protect: cell.protect }
    }
    for (const [id, target] of pinned) {
      const cell = cells[Number(id.slice(3))]
      declared[target] = { ...declared[target], primary: { id, ...(cell?.resize === true ? { size: 2 } : {}) } }
    }
    const branches = Object.fromEntries(
      cells.map((cell, index): [string, LiveBranch] => [
        name(index),
        {
          protected: cell.shielded,
          ...(cell.primary ? { primary: { id: `ep-${index}`, size: cell.size, state: cell.state } } : {}),
        },
      ]),
    )
    return { branches: { ...branches, [PARK]: {} }, declared, pinned, parkOn }
  })

const planFor = ({ branches, declared, parkOn }: Rearrangement, observed = world(branches)) => {
  const result = plan(desired({ branches: declared, prune: true, ...(parkOn ? { parkOn: PARK } : {}) }), observed)
  return { observed, result }
}

/** Whether the pins move primaries in a cycle. */
const hasRing = ({ branches, pinned }: Rearrangement): boolean => {
  const target = new Map<string, string>()
  for (const [name, { primary }] of Object.entries(branches)) {
    const to = primary?.id === undefined ? undefined : pinned.get(primary.id)
    if (to !== undefined && to !== name) target.set(name, to)
  }
  return [...target.keys()].some((first) => {
    let at = target.get(first)
    for (let step = 0; at !== undefined && at !== first && step < target.size; step += 1) at = target.get(at)
    return at === first
  })
}

const primaryOf = (state: Simulated, name: string): string | undefined =>
  [...state.computes.values()].find(({ branchId: at, type }) => at === branchId(name) && type === 'read_write')?.id

/** The state after an apply, which skips steps without consent and their dependents. */
const runAllowed = (observed: Observed, steps: readonly Step[], allow: ReadonlySet<Consent>): Simulated => {
  const done = new Set<string>()
  let state = start(observed)
  for (const step of steps) {
    if (step.refused !== undefined || step.consents.some((consent) => !allow.has(consent))) continue
    if (!step.after.every((id) => done.has(id))) continue
    state = perform(state, step)
    done.add(step.id)
  }
  return state
}

const RUNS = { numRuns: runs(3_000) }

test('only a cycle of moves without a parking branch has no plan', () => {
  let rings = 0
  fc.assert(
    fc.property(rearrangement, (one) => {
      const { result } = planFor(one)
      const errors = result.ok ? [] : result.diagnostics.filter(({ severity }) => severity === 'error')
      const codes = [...new Set(errors.map(({ code }) => code))]
      const ring = hasRing(one)
      rings += ring ? 1 : 0
      expect(codes).toEqual(ring && !one.parkOn ? ['E_PARK_ON'] : [])
    }),
    RUNS,
  )
  expectEnough(rings, 100)
})

test('running the steps in any allowed order leaves each primary on the branch that it is pinned to', () => {
  fc.assert(
    fc.property(rearrangement, fc.array(fc.nat(), { minLength: 1, maxLength: 12 }), (one, picks) => {
      const { observed, result } = planFor(one)
      if (!result.ok || result.plan.summary.refused > 0) return
      for (const steps of [result.plan.steps, shuffled(result.plan.steps, picks)]) {
        const end = steps.reduce(perform, start(observed))
        for (const [id, target] of one.pinned) expect(primaryOf(end, target)).toBe(id)
        // Computes that are not pinned are pruned.
        expect(end.computes.size).toBe(one.pinned.size)
      }
    }),
    RUNS,
  )
})

test('no primary stays parked or is deleted without a successor when steps are rejected or lack consent', () => {
  fc.assert(
    fc.property(
      rearrangement,
      fc.subarray([...CONSENTS]),
      fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
      (one, allow, picks) => {
        const { observed, result } = planFor(one)
        if (!result.ok) return
        const end = runAllowed(observed, shuffled(result.plan.steps, picks), new Set(allow))
        expect(primaryOf(end, PARK)).toBeUndefined()
        for (const [name, { primary }] of Object.entries(one.branches)) {
          const deleted = primary?.id !== undefined && !end.computes.has(primary.id)
          const promised = [...one.pinned.values()].includes(name)
          if (deleted && promised) expect(primaryOf(end, name)).toBeDefined()
        }
      },
    ),
    RUNS,
  )
})

test('a new plan after an interruption at any step completes the moves', () => {
  let parked = 0
  fc.assert(
    fc.property(rearrangement, fc.nat(), (one, cut) => {
      const { observed, result } = planFor(one)
      if (!result.ok || result.plan.summary.refused > 0) return
      const { steps } = result.plan
      const left = steps.slice(0, cut % (steps.length + 1)).reduce(perform, start(observed))
      parked += primaryOf(left, PARK) === undefined ? 0 : 1
      const again = planFor(one, observe(observed, left)).result
      expect(again.ok ? [] : again.diagnostics).toEqual([])
      const end = (again.ok ? again.plan.steps : []).reduce(perform, left)
      for (const [id, target] of one.pinned) expect(primaryOf(end, target)).toBe(id)
    }),
    RUNS,
  )
  expectEnough(parked, 5)
})

test('no primary on a protected branch is deleted, and none is moved from or to it', () => {
  fc.assert(
    fc.property(rearrangement, (one) => {
      const { observed, result } = planFor(one)
      if (!result.ok) return
      const end = runAllowed(observed, result.plan.steps, new Set(CONSENTS))
      for (const [name, { protect }] of Object.entries(one.declared)) {
        if (protect === true) expect(primaryOf(end, name)).toBe(one.branches[name]?.primary?.id)
        if (one.branches[name]?.protected === true) {
          const id = one.branches[name]?.primary?.id
          if (id !== undefined) expect(end.computes.has(id)).toBe(true)
        }
      }
    }),
    RUNS,
  )
})
