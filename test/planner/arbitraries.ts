/** Random manifests and live projects, similar enough that most pairs have a plan. */
import fc from 'fast-check'
import type { Observed, Plan } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
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

export const BRANCHES = ['main', 'staging', 'preview/1', 'preview/2', 'park']
export const NAMES = ['a', 'b', 'c']
const sizes = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(0.25, 1, 2, { min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constant(24) },
)

const attributes = fc.record(
  { size: sizes, scaleToZero: fc.constantFrom(0, 300, -1, 600), settings: fc.constantFrom({}, { work_mem: '64MB' }) },
  { requiredKeys: [] },
)

export const liveCompute: fc.Arbitrary<LiveCompute> = fc
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

export const liveWorld: fc.Arbitrary<Record<string, LiveBranch>> = fc
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
        // A parking branch must not have a primary.
        { replicas, ...(primary === undefined || BRANCHES[index] === 'park' ? {} : { primary }) },
      ]),
    ),
  )

/** Compute ids as `world` assigns them. Some of them exist. */
const pins = fc.constantFrom(
  ...BRANCHES.slice(0, 4).map((name) => `ep-${branchId(name)}`),
  ...BRANCHES.map((name) => `ep-${branchId(name)}-0`),
)

export const declared: fc.Arbitrary<Declared> = fc
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

export const manifest: fc.Arbitrary<DeclaredDocument> = fc
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

/** The plan of a random case; `undefined` if it has none. Most cases have one. */
export const planned = (
  declaredDocument: DeclaredDocument,
  live: Record<string, LiveBranch>,
): { plan: Plan; observed: Observed } | undefined => {
  const observed = world(live)
  const result = plan(desired(declaredDocument), observed)
  return result.ok ? { plan: result.plan, observed } : undefined
}
