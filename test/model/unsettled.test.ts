/** Which computes a failed operation has left unsettled. Each row is a trap. */
import { describe, expect, test } from 'vitest'
import {
  hasRecentChange,
  type ObservedCompute,
  repairOf,
  type Settlement,
  settlementOf,
} from '../../src/model/index.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
/** A time of the service, in minutes before now. */
const ago = (minutes: number): string => `${new Date(NOW - minutes * 60_000).toISOString().slice(0, 19)}Z`

const compute = (overrides: Partial<ObservedCompute> = {}): ObservedCompute => ({
  id: 'ep-1',
  branchId: 'br-main',
  type: 'read_write',
  host: 'h',
  state: 'active',
  attributes: {},
  createdAt: ago(9_000),
  startedAt: ago(600),
  updatedAt: ago(10),
  ...overrides,
})
const IDLE = compute({ state: 'idle', suspendedAt: ago(300) })

let made = 0
const operation = (action: string, status: string, minutes: number, more: object = {}) => {
  made += 1
  return {
    id: `op-${made}`,
    action,
    status,
    endpointId: 'ep-1',
    createdAt: ago(minutes),
    updatedAt: ago(minutes),
    ...more,
  }
}
const bad = (minutes = 10, more: object = {}) => operation('apply_config', 'error', minutes, more)
const badStart = (minutes = 10) => operation('start_compute', 'error', minutes)

type Operations = Parameters<typeof settlementOf>[1]
const judge = (of: ObservedCompute, operations: Operations, since = 0): Settlement =>
  settlementOf([of], operations, { now: NOW, since })
const verdict = (of: ObservedCompute, operations: Operations): string | undefined => {
  const [one] = judge(of, operations).unsettled
  return one && `${one.operation.action} ${one.operation.status}: ${one.repair}`
}

describe('an active compute', () => {
  test.each<[string, Operations, string | undefined]>([
    ['without operations', [], undefined],
    ['with a failed change', [bad()], 'apply_config error: restart'],
    ['with a cancelled change', [operation('apply_config', 'cancelled', 5)], 'apply_config cancelled: restart'],
    ['with a skipped change', [operation('apply_config', 'skipped', 5)], undefined],
    ['with a change that is running', [operation('apply_config', 'running', 5)], undefined],
    ['with a change of an unknown status', [operation('apply_config', 'paused', 5)], undefined],
    ['with a finished change since', [operation('apply_config', 'finished', 5), bad()], undefined],
    ['with a finished restart since', [operation('start_compute', 'finished', 5), bad()], undefined],
    [
      'with a finished change before',
      [bad(), operation('apply_config', 'finished', 20)],
      'apply_config error: restart',
    ],
    [
      'with only a suspension since',
      [operation('suspend_compute', 'finished', 5), bad()],
      'apply_config error: restart',
    ],
    ['with only a check since', [operation('check_availability', 'finished', 5), bad()], 'apply_config error: restart'],
    ['with a running change since', [operation('apply_config', 'running', 1), bad()], 'apply_config error: restart'],
    ['with a change that failed before the last start', [bad(700)], undefined],
    ['with a change that failed in the second of the last start', [bad(600)], 'apply_config error: restart'],
    ['with a failed check', [operation('check_availability', 'error', 5)], undefined],
    ['with a failed suspension', [operation('suspend_compute', 'error', 5)], undefined],
    [
      'with a restart that failed and cancelled its start',
      [operation('start_compute', 'cancelled', 5), operation('suspend_compute', 'error', 5)],
      'start_compute cancelled: restart',
    ],
    ['with a failed change of another compute', [bad(10, { endpointId: 'ep-2' })], undefined],
    ['with a failed change of no compute', [bad(10, { endpointId: undefined })], undefined],
  ])('%s', (_, operations, expected) => {
    expect(verdict(compute(), operations)).toBe(expected)
  })

  test('of which the service does not show when it started', () => {
    const { startedAt, ...unknown } = compute()
    expect(startedAt).toBeDefined()
    expect(verdict(unknown, [bad()])).toBe('apply_config error: restart')
    expect(verdict(unknown, [operation('start_compute', 'finished', 5), bad()])).toBeUndefined()
  })
})

test.each<[string, ObservedCompute, Operations, string | undefined]>([
  ['an idle compute reads a failed change when it starts', IDLE, [bad()], undefined],
  ['an idle compute that failed to start', IDLE, [badStart()], 'start_compute error: start'],
  ['an idle compute that started since', { ...IDLE, startedAt: ago(5) }, [badStart()], undefined],
  [
    'an idle compute that was changed since, so it ran',
    IDLE,
    [operation('apply_config', 'finished', 5), badStart()],
    undefined,
  ],
  ['a new compute that failed to start', compute({ state: 'init' }), [badStart(5)], 'start_compute error: start'],
  [
    'a disabled compute need not start',
    compute({ state: 'idle', attributes: { disabled: true } }),
    [badStart()],
    undefined,
  ],
  [
    'a disabled compute that runs on',
    compute({ attributes: { disabled: true } }),
    [operation('suspend_compute', 'error', 5)],
    'suspend_compute error: suspend',
  ],
])('%s', (_, of, operations, expected) => {
  expect(verdict(of, operations)).toBe(expected)
})

test('the cause is named, not what was cancelled because of it', () => {
  const operations = [operation('start_compute', 'cancelled', 5), bad(5), operation('apply_config', 'error', 9)]
  expect(judge(compute(), operations).unsettled).toMatchObject([{ operation: { id: operations[1]?.id } }])
})

test('a failed operation counts once the service no longer retries it, and is open until then', () => {
  const at = (seconds: number, more: object = {}) =>
    judge(compute(), [operation('apply_config', 'failed', seconds / 60, more)])
  expect(at(29)).toMatchObject({ unsettled: [], open: [{ compute: 'ep-1' }] })
  expect(at(30)).toMatchObject({ unsettled: [{ id: 'ep-1' }], open: [] })
  expect(at(60, { retryAt: ago(-1) })).toMatchObject({ unsettled: [], open: [{ compute: 'ep-1' }] })
})

test('whether a compute is settled is unknown if its operations go back further than was read', () => {
  const unknown = (of: ObservedCompute, operations: Operations = []) =>
    judge(of, operations, Date.parse(ago(60))).unknown
  expect(unknown(compute())).toEqual(['ep-1'])
  expect(unknown(compute(), [operation('apply_config', 'finished', 5)])).toEqual([])
  expect(unknown(compute(), [bad(5)])).toEqual([])
  // It started after the oldest operation that was read, or has not changed since it started or fell asleep.
  expect(unknown(compute({ startedAt: ago(59) }))).toEqual([])
  expect(unknown(compute({ updatedAt: ago(600) }))).toEqual([])
  expect(unknown({ ...IDLE, updatedAt: ago(300) })).toEqual([])
  // It last changed before the time that is looked at.
  expect(unknown(compute({ updatedAt: ago(31 * 24 * 60), startedAt: ago(40 * 24 * 60) }))).toEqual([])
})

test('operations are read for projects that have changed within 30 days', () => {
  expect(hasRecentChange([compute({ updatedAt: ago(31 * 24 * 60) })], NOW)).toBe(false)
  expect(hasRecentChange([compute({ updatedAt: ago(31 * 24 * 60) }), compute()], NOW)).toBe(true)
})

test('after a failed operation of its own, a run knows whether its compute needs a repair', () => {
  expect(repairOf(compute(), 'apply_config')).toBe('restart')
  expect(repairOf(IDLE, 'apply_config')).toBeUndefined()
  expect(repairOf(IDLE, 'start_compute')).toBe('start')
})
