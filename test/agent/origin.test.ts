/** The side that changed last determines the origin of a difference. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  adopted,
  originOf,
  type ProjectRecord,
  type Refresh,
  refreshed,
  type Value,
} from '../../src/agent/decide/origin.ts'
import { type Fact, factsOf } from '../../src/planner/index.ts'
import { runs } from '../long-runs.ts'
import { desired, type LiveBranch, world } from '../planner/world.ts'

interface Seen {
  readonly want: Value
  readonly live: Value
}
const COMPUTE = { id: 'ep-1', slot: 'p/br-1/primary' }
const fact = ({ want, live }: Seen, path = 'size', more = {}): Fact => ({
  key: `ep-1/${path}`,
  want,
  live,
  agrees: want === live,
  claimed: { ...COMPUTE, ...more },
})
const refreshOf = (record: ProjectRecord | undefined, facts: readonly Fact[], more: Partial<Refresh> = {}) =>
  refreshed(record, { facts, program: '1', manifests: 'a', rules: [], newestBranch: '', created: new Set(), ...more })
const refresh = (record: ProjectRecord | undefined, seen: Seen, more: Partial<Refresh> = {}) =>
  refreshOf(record, [fact(seen)], { manifests: String(seen.want), ...more })
const origin = (record: ProjectRecord | undefined, key = 'ep-1/size'): string => {
  const entry = record?.entries[key]
  return entry === undefined ? 'none' : entry.agreed ? 'same' : originOf(entry)
}
const originAfter = (...history: readonly (readonly [Value, Value])[]): string =>
  origin(
    history.reduce<ProjectRecord | undefined>((record, [want, live]) => refresh(record, { want, live }), undefined),
  )

describe('origins of a compute that was in agreement once', () => {
  test.each<[string, string, ...(readonly [Value, Value])[]]>([
    ['introduced', 'a commit', ['1', '1'], ['2', '1']],
    ['introduced', 'a commit whose steps wait for a window', ['1', '1'], ['2', '1'], ['2', '1'], ['2', '1']],
    ['introduced', 'a second commit', ['1', '1'], ['2', '1'], ['4', '1']],
    ['drift', 'a manual change', ['1', '1'], ['1', '2']],
    ['drift', 'a manual change while a commit waits', ['1', '1'], ['2', '1'], ['2', '4']],
    [
      'introduced',
      'undoing a manual change that was made while a commit waits',
      ['1', '1'],
      ['2', '1'],
      ['2', '4'],
      ['2', '1'],
    ],
    ['introduced', 'a commit that changes a drifted attribute', ['1', '1'], ['1', '2'], ['4', '2']],
    ['drift', 'a commit and a manual change at once', ['1', '1'], ['2', '4']],
    ['same', 'a commit that adopts the live value', ['1', '1'], ['1', '2'], ['2', '2']],
  ])('the origin is %s after %s', (expected, _what, ...history) => {
    expect(originAfter(...history)).toBe(expected)
  })

  test('an attribute that is declared for the first time is introduced, unless a new version reads it', () => {
    const synced = refresh(undefined, { want: '1', live: '1' })
    const more = [fact({ want: '1', live: '1' }), fact({ want: '5m', live: null }, 'scaleToZero')]
    expect(origin(refreshOf(synced, more), 'ep-1/scaleToZero')).toBe('introduced')
    const upgrade = { program: '2', manifests: '1' }
    expect(origin(refreshOf(synced, more, upgrade), 'ep-1/scaleToZero')).toBe('unrecorded')
    const other = [fact({ want: '1', live: '1' }), { ...fact({ want: '5m', live: 'default' }, 'x'), agrees: true }]
    const agreed = refreshOf(undefined, other)
    const distinguished = refreshOf(
      agreed,
      other.map((one) => ({ ...one, agrees: one.want === one.live })),
      upgrade,
    )
    expect(origin(distinguished, 'ep-1/x')).toBe('unrecorded')
  })
})

describe('a live compute that differs when it is first read', () => {
  const first = refresh(undefined, { want: '2', live: '1' })

  test('it is unrecorded whichever side changes, until they agree', () => {
    expect(origin(first)).toBe('unrecorded')
    const [commit, moved] = [refresh(first, { want: '4', live: '1' }), refresh(first, { want: '2', live: '3' })]
    expect([origin(commit), origin(moved)]).toEqual(['unrecorded', 'unrecorded'])
    expect(origin(refresh(commit, { want: '8', live: '1' }))).toBe('unrecorded')
    const agreed = refresh(commit, { want: '1', live: '1' })
    expect(origin(agreed)).toBe('same')
    expect(origin(refresh(agreed, { want: '2', live: '1' }))).toBe('introduced')
  })

  test('one difference is enough: a commit that changes an attribute that agreed waits as well', () => {
    const half = [fact({ want: '2', live: '1' }), fact({ want: 'a', live: 'a' }, 'name')]
    const then = [fact({ want: '2', live: '1' }), fact({ want: 'b', live: 'a' }, 'name')]
    expect(origin(refreshOf(refreshOf(undefined, half), then), 'ep-1/name')).toBe('unrecorded')
  })

  test('once adopted, it is introduced, and a value that moved after it was shown is drift', () => {
    expect(origin(adopted(first, first))).toBe('introduced')
    expect(origin(refresh(adopted(first, first), { want: '4', live: '1' }))).toBe('introduced')
    expect(origin(adopted(refresh(first, { want: '2', live: '3' }), first))).toBe('drift')
    const drift = refresh(refresh(undefined, { want: '2', live: '2' }), { want: '2', live: '3' })
    expect(origin(adopted(drift, drift))).toBe('drift')
  })

  test('it is introduced if the agent created it, even if a commit came first', () => {
    const created = { created: new Set([COMPUTE.slot]) }
    expect(origin(refresh(undefined, { want: '2', live: '1' }, created))).toBe('introduced')
  })

  test('it is introduced on a branch that was created after the rule was recorded', () => {
    const rules = { rules: ['preview/*'], newestBranch: '2026-01-02T00:00:00Z' }
    const before = refreshOf(undefined, [], rules)
    const on = (branchCreatedAt: string, path?: string, rule = 'preview/*') =>
      fact({ want: '2', live: '1' }, path, { byRule: { rule, branchCreatedAt } })
    const joined = (one: Fact) => {
      const all = { rules: ['preview/*', 'new/*'], newestBranch: '2026-01-03T00:00:00Z' }
      return origin(refreshOf(before, [one], all), one.key)
    }
    expect(joined(on('2026-01-03T00:00:00Z'))).toBe('introduced')
    expect(joined(on('2026-01-01T00:00:00Z'))).toBe('unrecorded')
    expect(joined(on('2026-01-02T00:00:00Z'))).toBe('unrecorded')
    expect(joined(on('2026-01-03T00:00:00Z', 'size', 'new/*'))).toBe('unrecorded')
    expect(joined(on('2026-01-03T00:00:00Z', 'branch'))).toBe('unrecorded')
    expect(joined(fact({ want: '2', live: '1' }))).toBe('unrecorded')
  })
})

test.each<[string, LiveBranch, boolean, boolean]>([
  ['main', {}, false, false],
  ['preview/1', { protected: true }, false, false],
  ['preview/1', {}, true, false],
  ['preview/1', {}, false, true],
])('a compute on %s (%o; protect: %s) can be accepted because of its rule: %s', (name, branch, protect, isByRule) => {
  const primary = { size: 1 }
  const [project] = world({ main: name === 'main' ? { primary } : {}, [name]: { ...branch, primary } }).projects
  if (project === undefined) throw new Error('no project')
  const facts = factsOf(desired({ rules: [{ match: '**', protect, primary: { size: 2 } }] }), project)
  const claimed = facts.flatMap((one) => (one.claimed === undefined ? [] : [one.claimed.byRule !== undefined]))
  expect(new Set(claimed)).toEqual(new Set([isByRule]))
})

describe('computes that are created and deleted', () => {
  const exists = (want: Value, live: Value, key = 'ep-1/exists'): Fact => ({ key, want, live, agrees: want === live })
  const slot = `${COMPUTE.slot}/exists`
  const declared = (live: Value) => [{ ...exists('yes', 'yes', slot), claimed: COMPUTE }, fact({ want: '1', live })]

  test.each<[string, string, string, ...(readonly Fact[])[]]>([
    ['introduced', slot, 'a compute is declared that does not exist', [exists('yes', null, slot)]],
    ['drift', slot, 'a declared compute is deleted manually', declared('1'), [exists('yes', null, slot)]],
    ['introduced', 'ep-1/exists', 'prune is switched on', [exists('yes', 'yes')], [exists(null, 'yes')]],
    ['unrecorded', 'ep-1/exists', 'prune is on from the start', [exists(null, 'yes')], [exists(null, 'yes')]],
    ['drift', 'ep-1/exists', 'a compute is created manually in a project with prune', [], [exists(null, 'yes')]],
    ['introduced', 'ep-1/exists', 'a declared compute becomes absent', declared('1'), [exists(null, 'yes')]],
    [
      'introduced',
      'ep-1/exists',
      'a declared compute becomes absent after it drifted',
      declared('1'),
      declared('2'),
      [exists(null, 'yes')],
    ],
    ['unrecorded', 'ep-1/exists', 'a compute that never agreed becomes absent', declared('2'), [exists(null, 'yes')]],
  ])('the origin is %s of %s: %s', (expected, key, _what, ...history) => {
    const record = history.reduce<ProjectRecord | undefined>((last, facts) => refreshOf(last, facts), undefined)
    expect(origin(record, key)).toBe(expected)
  })

  test('an unmanaged compute that is declared with other values is unrecorded', () => {
    const unmanaged = refreshOf(undefined, [exists('yes', 'yes')])
    expect(origin(refreshOf(unmanaged, declared('2')))).toBe('unrecorded')
    expect(origin(refreshOf(refreshOf(unmanaged, declared('1')), declared('2')))).toBe('drift')
  })
})

/** The origin according to the complete log, as a reference implementation. */
const byLog = (log: readonly Seen[]): string => {
  const last = log.at(-1)
  if (!log.some(({ want, live }) => want === live)) return 'unrecorded'
  if (last === undefined || last.want === last.live) return 'same'
  for (let at = log.length - 1; at >= 0; at -= 1) {
    const [now, before] = [log[at], log[at - 1]]
    if (now === undefined) break
    if (now.want === now.live) return now.live === last.live ? 'introduced' : 'drift'
    if (before !== undefined && before.want !== now.want) return before.live === last.live ? 'introduced' : 'drift'
  }
  return 'unrecorded'
}

test('the origins from the record match those from a log of all refreshes', () => {
  const value = fc.constantFrom('1', '2', '4')
  fc.assert(
    fc.property(fc.array(fc.record({ want: value, live: value }), { minLength: 1, maxLength: 12 }), (log) => {
      expect(originAfter(...log.map(({ want, live }) => [want, live] as const))).toBe(byLog(log))
    }),
    { numRuns: runs(2_000) },
  )
})

test('an attribute that is no longer declared is removed from the record', () => {
  const record = refresh(undefined, { want: '1', live: '1' })
  expect(refreshOf(record, [])).toMatchObject({ entries: {}, computes: {} })
})
