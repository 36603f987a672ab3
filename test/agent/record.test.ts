/** Whoever moved last decides. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { originOf, type ProjectRecord, refreshed, type Value } from '../../src/agent/index.ts'
import { runs } from '../long-runs.ts'

interface Seen {
  readonly want: Value
  readonly live: Value
}
const fact = ({ want, live }: Seen) => ({ key: 'ep-1/size', want, live, agrees: want === live })
const refresh = (record: ProjectRecord | undefined, seen: Seen, more = {}) =>
  refreshed(record, { facts: [fact(seen)], program: '1', manifests: String(seen.want), isNewlyDeclared: true, ...more })
const origin = (record: ProjectRecord | undefined): string => {
  const entry = record?.entries['ep-1/size']
  return entry === undefined ? 'none' : entry.agreed ? 'same' : originOf(entry)
}
const originAfter = (...history: readonly (readonly [Value, Value])[]): string =>
  origin(
    history.reduce<ProjectRecord | undefined>((record, [want, live]) => refresh(record, { want, live }), undefined),
  )

describe('declared and live, refresh after refresh', () => {
  test.each<[string, string, ...(readonly [Value, Value])[]]>([
    ['introduced', 'a new declaration', ['2', '1']],
    ['introduced', 'a commit', ['1', '1'], ['2', '1']],
    ['introduced', 'a commit that waits for its window', ['1', '1'], ['2', '1'], ['2', '1'], ['2', '1']],
    ['introduced', 'a later commit', ['1', '1'], ['2', '1'], ['4', '1']],
    ['drift', 'a hand edit', ['1', '1'], ['1', '2']],
    ['drift', 'a hand edit while a commit waits', ['1', '1'], ['2', '1'], ['2', '4']],
    ['introduced', 'the same, put back by hand', ['1', '1'], ['2', '1'], ['2', '4'], ['2', '1']],
    ['introduced', 'a commit to what has drifted takes it over', ['1', '1'], ['1', '2'], ['4', '2']],
    ['drift', 'both at once', ['1', '1'], ['2', '4']],
    ['same', 'a commit that takes the live value up', ['1', '1'], ['1', '2'], ['2', '2']],
    ['drift', 'a compute that somebody deleted', ['yes', 'yes'], ['yes', null]],
    ['introduced', 'a compute to create', ['yes', null]],
    ['drift', 'a compute that somebody made where prune deletes', [null, 'yes']],
    ['introduced', 'prune that is new', ['any', 'any'], [null, 'any']],
  ])('%s: %s', (expected, _what, ...history) => {
    expect(originAfter(...history)).toBe(expected)
  })
})

describe('what the record does not know', () => {
  const lost = refresh(undefined, { want: '2', live: '1' }, { isNewlyDeclared: false })

  test('after the record is lost, differences are unrecorded until one side changes', () => {
    expect(origin(lost)).toBe('unrecorded')
    expect(origin(refresh(lost, { want: '2', live: '1' }))).toBe('unrecorded')
    expect(origin(refresh(lost, { want: '4', live: '1' }))).toBe('introduced')
    expect(origin(refresh(lost, { want: '2', live: '3' }))).toBe('drift')
    expect(origin(refresh(lost, { want: '2', live: '2' }))).toBe('same')
  })

  test('so does a new version that distinguishes values that were equal before', () => {
    const agreed = refreshed(undefined, {
      facts: [{ key: 'ep-1/size', want: '5m', live: 'default', agrees: true }],
      program: '1',
      manifests: 'a',
      isNewlyDeclared: true,
    })
    expect(origin(refresh(agreed, { want: '5m', live: 'default' }, { program: '2' }))).toBe('unrecorded')
  })

  test('so does an attribute that only the new version reads', () => {
    const empty: ProjectRecord = { program: '1', manifests: 'a', entries: {} }
    const upgraded = refresh(empty, { want: '2', live: '1' }, { program: '2', manifests: 'a' })
    expect(origin(upgraded)).toBe('unrecorded')
    expect(origin(refresh(empty, { want: '2', live: '1' }, { program: '2', manifests: 'b' }))).toBe('introduced')
  })
})

/** By the log of all refreshes: the live value when the two last agreed, or before the last commit, whichever is later. */
const byLog = (log: readonly Seen[]): string => {
  const last = log.at(-1)
  if (last === undefined || last.want === last.live) return 'same'
  for (let at = log.length - 1; at >= 0; at -= 1) {
    const [now, before] = [log[at], log[at - 1]]
    if (now === undefined) break
    if (now.want === now.live) return now.live === last.live ? 'introduced' : 'drift'
    if (before !== undefined && before.want !== now.want) return before.live === last.live ? 'introduced' : 'drift'
  }
  return log[0]?.live === last.live ? 'introduced' : 'drift'
}

test('the record agrees with a log of all writes', () => {
  const value = fc.constantFrom('1', '2', '4')
  fc.assert(
    fc.property(fc.array(fc.record({ want: value, live: value }), { minLength: 1, maxLength: 12 }), (log) => {
      expect(originAfter(...log.map(({ want, live }) => [want, live] as const))).toBe(byLog(log))
    }),
    { numRuns: runs(2_000) },
  )
})

test('what is no longer declared is removed from the record', () => {
  const record = refresh(undefined, { want: '1', live: '1' })
  expect(refreshed(record, { facts: [], program: '1', manifests: 'b', isNewlyDeclared: false }).entries).toEqual({})
})
