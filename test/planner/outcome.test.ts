/** The state after a plan, compared with the manifest independently of the planner. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ObservedCompute, Plan } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { expectEnough, runs } from '../long-runs.ts'
import { BRANCHES, liveWorld, manifest, planned } from './arbitraries.ts'
import { perform, type Simulated, shuffled, start } from './simulator.ts'
import {
  branchId,
  type Declared,
  type DeclaredDocument,
  type DeclaredShape,
  desired,
  type LiveCompute,
  world,
} from './world.ts'

const RUNS = { numRuns: runs(2_000) }
const picksArbitrary = fc.array(fc.nat(), { minLength: 1, maxLength: 12 })

/** The declaration for a branch: its own entry, or else the only rule. */
const shapeOf = (document: DeclaredDocument, name: string): DeclaredShape | undefined =>
  document.branches?.[name] ?? (name.startsWith('preview/') ? document.rules?.[0] : undefined)

const effective = (seconds: number): number => (seconds === 0 ? 300 : seconds)

const expectAttributes = (compute: ObservedCompute, declared: Declared): void => {
  const { size, scaleToZero, disabled, settings, preload } = declared
  const live = compute.attributes
  if (size !== undefined) expect(live.size).toEqual(typeof size === 'number' ? { min: size, max: size } : size)
  if (scaleToZero !== undefined) expect(effective(live.scaleToZero ?? 0)).toBe(effective(scaleToZero))
  if (disabled !== undefined) expect(live.disabled).toBe(disabled)
  if (settings !== undefined) expect(live.postgresSettings).toMatchObject(settings)
  if (preload !== undefined) expect([...(live.postgresPreload ?? [])].sort()).toEqual([...preload].sort())
}

/** The ids of successors, by replaced id. */
const successors = (made: Plan, end: Simulated): ReadonlyMap<string, string> =>
  new Map(
    made.changes
      .filter(({ kind }) => kind === 'replace')
      .map(({ id, compute }) => [compute.id ?? '', end.made.get(`${id}#2`) ?? '']),
  )

test('running the steps in any allowed order produces the declared state', () => {
  let checked = 0
  fc.assert(
    fc.property(manifest, liveWorld, picksArbitrary, (document, live, picks) => {
      const found = planned(document, live)
      if (found === undefined || found.plan.summary.refused > 0) return
      const end = shuffled(found.plan.steps, picks).reduce(perform, start(found.observed))
      const heirs = successors(found.plan, end)
      const pinnedTo = (id: string): string => heirs.get(id) ?? id
      for (const name of BRANCHES) {
        const shape = shapeOf(document, name)
        if (shape === undefined) continue
        const here = [...end.computes.values()].filter((compute) => compute.branchId === branchId(name))
        const primaries = here.filter(({ type }) => type === 'read_write')
        if (shape.primary === 'absent') expect(primaries).toEqual([])
        else if (shape.primary !== undefined) {
          expect(primaries).toHaveLength(1)
          const [primary] = primaries
          if (primary !== undefined) expectAttributes(primary, shape.primary)
          if (shape.primary.id !== undefined) expect(primary?.id).toBe(pinnedTo(shape.primary.id))
        }
        const replicas = here.filter(({ type }) => type === 'read_only')
        for (const [key, declared] of Object.entries(shape.replicas ?? {})) {
          const pin = declared.id === undefined ? undefined : pinnedTo(declared.id)
          const named = replicas.filter(({ id, attributes }) => attributes.name === key && (pin ?? id) === id)
          const fitting = named.filter((replica) => fits(replica, declared))
          expect(fitting.length).toBeGreaterThan(0)
          checked += 1
        }
        if (document.prune === true) expect(replicas).toHaveLength(Object.keys(shape.replicas ?? {}).length)
      }
    }),
    RUNS,
  )
  expectEnough(checked, 500)
})

const fits = (compute: ObservedCompute, declared: Declared): boolean => {
  try {
    expectAttributes(compute, declared)
    return true
  } catch {
    return false
  }
}

test('computes without a step and unmanaged attributes do not change', () => {
  fc.assert(
    fc.property(manifest, liveWorld, picksArbitrary, (document, live, picks) => {
      const found = planned(document, live)
      if (found === undefined) return
      const end = shuffled(found.plan.steps, picks).reduce(perform, start(found.observed))
      const changes = new Map(found.plan.changes.map((change) => [change.compute.id, change]))
      for (const before of found.observed.projects.flatMap(({ computes }) => computes)) {
        const change = changes.get(before.id)
        const after = end.computes.get(before.id)
        if (change === undefined) expect(after).toEqual(before)
        if (after === undefined || change === undefined) continue
        const touched = new Set(change.attributes.map(({ path }) => path.split('.')[0]))
        const { size, scaleToZero, disabled, postgresSettings = {} } = before.attributes
        if (!touched.has('size')) expect(after.attributes.size).toEqual(size)
        if (!touched.has('scaleToZero')) expect(after.attributes.scaleToZero).toBe(scaleToZero)
        if (!touched.has('disabled')) expect(after.attributes.disabled).toBe(disabled)
        const named = new Set(change.attributes.map(({ path }) => path))
        for (const [name, value] of Object.entries(postgresSettings)) {
          if (!named.has(`postgres.settings.${name}`)) expect(after.attributes.postgresSettings?.[name]).toBe(value)
        }
        if (change.kind === 'update') expect(after.branchId).toBe(before.branchId)
      }
    }),
    RUNS,
  )
})

test('the plan does not depend on the order of branches, replicas, computes or documents', () => {
  const mixed = <T>(items: readonly T[], keys: readonly number[]): T[] =>
    items
      .map((item, index) => ({ item, key: keys[index % keys.length] ?? 0, index }))
      .sort((a, b) => a.key - b.key || a.index - b.index)
      .map(({ item }) => item)
  fc.assert(
    fc.property(manifest, manifest, liveWorld, liveWorld, picksArbitrary, (one, other, here, there, keys) => {
      const elsewhere = { ...other, project: 'other-1' }
      const [mine, theirs] = [world(here), world(there)]
      const rename = theirs.projects.map((project) => ({ ...project, id: 'other-1' }))
      const wanted = desired(one, elsewhere)
      const observed = { ...mine, projects: [...mine.projects, ...rename] }
      const again = plan(
        {
          documents: mixed(
            wanted.documents.map((document) => ({
              ...document,
              branches: mixed(
                document.branches.map((branch) => ({ ...branch, replicas: mixed(branch.replicas, keys) })),
                keys,
              ),
            })),
            keys,
          ),
        },
        {
          ...observed,
          projects: mixed(
            observed.projects.map((project) => ({
              ...project,
              branches: mixed(project.branches, keys),
              computes: mixed(project.computes, keys),
            })),
            keys,
          ),
        },
      )
      expect(JSON.stringify(again)).toBe(JSON.stringify(plan(wanted, observed)))
    }),
    { numRuns: runs(1_000) },
  )
})

interface Replicas {
  readonly declared: Readonly<Record<string, Declared>>
  readonly live: readonly LiveCompute[]
  readonly prune: boolean
}

const replicas: fc.Arbitrary<Replicas> = fc.record({
  declared: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record({ size: fc.constantFrom(0.25, 1, 2) }), {
    minKeys: 1,
    maxKeys: 4,
  }),
  live: fc.array(
    fc
      .record({
        size: fc.constantFrom(0.25, 1, 2),
        settings: fc.constantFrom({}, { jit: 'off' }),
        state: fc.constantFrom('active' as const, 'idle' as const),
        name: fc.option(fc.constantFrom('a', 'b', 'x'), { nil: undefined }),
      })
      .map(({ name, ...rest }): LiveCompute => ({ ...rest, ...(name === undefined ? {} : { name }) })),
    { maxLength: 4 },
  ),
  prune: fc.boolean(),
})

const restarts = (declared: Declared, live: LiveCompute): number =>
  live.state === 'active' && declared.size !== undefined && declared.size !== live.size ? 1 : 0

/** The fewest restarts of all pairings: first by name, then as many of the others as possible. */
const least = ({ declared, live, prune }: Replicas): number => {
  const open: Declared[] = []
  let byName = 0
  for (const [key, one] of Object.entries(declared)) {
    const namesakes = live.filter(({ name }) => name === key)
    if (namesakes.length === 0) open.push(one)
    else byName += Math.min(...namesakes.map((candidate) => restarts(one, candidate)))
  }
  const free = live.filter(({ name }) => name === undefined || (prune && !(name in declared)))
  return byName + leastOf(open, free)
}

const leastOf = (open: readonly Declared[], free: readonly LiveCompute[]): number => {
  const [first, ...rest] = open
  if (first === undefined || free.length === 0) return 0
  const ways = free.map(
    (candidate) =>
      restarts(first, candidate) +
      leastOf(
        rest,
        free.filter((other) => other !== candidate),
      ),
  )
  if (open.length > free.length) ways.push(leastOf(rest, free))
  return Math.min(...ways)
}

test('replicas with declared sizes are paired so that no other pairing restarts fewer computes', () => {
  fc.assert(
    fc.property(replicas, (one) => {
      const result = plan(
        desired({ branches: { main: { replicas: one.declared } }, prune: one.prune }),
        world({ main: { replicas: one.live } }),
      )
      expect(result.ok && result.plan.summary.restarts).toBe(least(one))
    }),
    RUNS,
  )
})

test('no replica restarts while an unmatched one fits without a restart', () => {
  fc.assert(
    fc.property(manifest, liveWorld, (document, live) => {
      const found = planned(document, live)
      const leftOver = new Set([
        ...(found?.plan.unmanaged ?? []).map(({ compute }) => compute.id),
        ...(found?.plan.changes ?? []).flatMap(({ kind, compute }) => (kind === 'delete' ? compute.id : [])),
      ])
      const computes = (found?.observed.projects ?? []).flatMap((project) => project.computes)
      for (const { warnings, changes } of found === undefined ? [] : [found.plan]) {
        for (const { message } of warnings.filter(({ code }) => code === 'W_ADOPTED')) {
          const change = changes.find(({ compute: { id } }) => id !== undefined && message.includes(`${id},`))
          if (change?.impact !== 'restart') continue
          const wanted = change.after?.size
          const better = computes.filter(
            ({ id, branchId: at, type, state, attributes: { name, size, scaleToZero } }) =>
              leftOver.has(id) &&
              at === change.branch.id &&
              type === 'read_only' &&
              name === undefined &&
              (state === 'idle' || size?.max === wanted?.max) &&
              // A compute above 16 CU cannot scale to zero, so one that does cannot get such a size.
              (scaleToZero === -1 || Math.max(size?.max ?? 0, wanted?.max ?? 0) <= 16),
          )
          expect(better).toEqual([])
        }
      }
    }),
    RUNS,
  )
})
