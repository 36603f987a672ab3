/** The side that changed last determines the origin of a difference. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { originOf, type ProjectRecord, refreshed, type Value } from '../../src/agent/decide/origin.ts'
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

describe('origins', () => {
  test.each<[string, string, ...(readonly [Value, Value])[]]>([
    ['introduced', 'a new declaration', ['2', '1']],
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
    ['drift', 'a compute is deleted manually', ['yes', 'yes'], ['yes', null]],
    ['introduced', 'a new compute is declared', ['yes', null]],
    ['drift', 'a compute is created manually in a project with prune', [null, 'yes']],
    ['introduced', 'prune is switched on', ['any', 'any'], [null, 'any']],
  ])('the origin is %s after %s', (expected, _what, ...history) => {
    expect(originAfter(...history)).toBe(expected)
  })
})

describe('differences without a record', () => {
  const lost = refresh(undefined, { want: '2', live: '1' }, { isNewlyDeclared: false })

  test('differences are unrecorded after the record is lost, until one side changes', () => {
    expect(origin(lost)).toBe('unrecorded')
    expect(origin(refresh(lost, { want: '2', live: '1' }))).toBe('unrecorded')
    expect(origin(refresh(lost, { want: '4', live: '1' }))).toBe('introduced')
    expect(origin(refresh(lost, { want: '2', live: '3' }))).toBe('drift')
    expect(origin(refresh(lost, { want: '2', live: '2' }))).toBe('same')
  })

  test('a difference is unrecorded if only a new version of Espalier distinguishes the values', () => {
    const agreed = refreshed(undefined, {
      facts: [{ key: 'ep-1/size', want: '5m', live: 'default', agrees: true }],
      program: '1',
      manifests: 'a',
      isNewlyDeclared: true,
    })
    expect(origin(refresh(agreed, { want: '5m', live: 'default' }, { program: '2' }))).toBe('unrecorded')
  })

  test('a difference is unrecorded if only a new version of Espalier reads the attribute', () => {
    const empty: ProjectRecord = { program: '1', manifests: 'a', entries: {} }
    const upgraded = refresh(empty, { want: '2', live: '1' }, { program: '2', manifests: 'a' })
    expect(origin(upgraded)).toBe('unrecorded')
    expect(origin(refresh(empty, { want: '2', live: '1' }, { program: '2', manifests: 'b' }))).toBe('introduced')
  })
})

/** The origin according to the complete log, as a reference implementation. */
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
  expect(refreshed(record, { facts: [], program: '1', manifests: 'b', isNewlyDeclared: false }).entries).toEqual({})
})
