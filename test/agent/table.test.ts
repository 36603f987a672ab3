/** The decision table of docs/maintainers/decisions.md, row by row. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { afterFailedRead } from '../../src/agent/decide/retries.ts'
import {
  type AgentPolicy,
  type Difference,
  decideDifference,
  decideSteps,
  type Situation,
} from '../../src/agent/decide/table.ts'
import { type AgentStatus, CONSENTS, type RestartWindow, type Step } from '../../src/model/index.ts'

const POLICY: AgentPolicy = { onGit: 'apply', onDrift: 'revert', allow: new Set(CONSENTS) }
const FINE: Situation = { policy: POLICY, isSuspended: false, isInvalid: false, history: 'known' }
const introduced: Difference = {
  origin: 'introduced',
  kind: 'update',
  impact: 'restart',
  hasWindow: true,
  wasRefused: false,
  isConfirmed: true,
  reverts: 0,
}
const drift: Difference = { ...introduced, origin: 'drift' }
const unrecorded: Difference = { ...introduced, origin: 'unrecorded' }
const under = (policy: Partial<AgentPolicy>): Partial<Situation> => ({ policy: { ...POLICY, ...policy } })

test('the rows of the table in docs/maintainers/decisions.md are numbered in order, without gaps', () => {
  const rows = [...readFileSync('docs/maintainers/decisions.md', 'utf8').matchAll(/^\| (\d+) \|/gm)].map(([, row]) =>
    Number(row),
  )
  expect(rows).toEqual(Array.from({ length: 18 }, (_, index) => index + 1))
})

test.each<[string, number | undefined, number, AgentStatus | undefined]>([
  ['Unknown', 500, 1, undefined],
  ['Synced', 500, 1, { state: 'Synced' }],
  ['OutOfSync Drift', 401, 1, { state: 'OutOfSync', reason: 'Drift' }],
  ['Failing Unreachable', undefined, 1, { state: 'Progressing' }],
  ['Failing Unreachable', 500, 2, { state: 'Synced' }],
  ['Failing KeyRefused', 401, 2, { state: 'Synced' }],
  ['Failing KeyRefused', 403, 2, undefined],
  ['Failing Unreachable', 500, 60, { state: 'Synced' }],
])('the state is %s after a read that failed with %s, the %s. time or for %s s', (expected, status, times, shown) => {
  const unread = times < 60 ? { since: 0, at: 0, rounds: times } : { since: -times * 1_000, at: 0, rounds: 1 }
  const { state, reason } = afterFailedRead(status, unread, 0, shown)
  expect([state, reason].filter(Boolean).join(' ')).toBe(expected)
})

describe('rows 1 to 9 of the decision table, for a difference', () => {
  test.each<[number, string, Difference, Partial<Situation>, string]>([
    [1, 'a suspended project', introduced, { isSuspended: true }, 'none Suspended'],
    [
      1,
      'a suspended project with rewritten history',
      introduced,
      { isSuspended: true, history: 'rewritten' },
      'none Suspended',
    ],
    [2, 'manifests with errors', drift, { isInvalid: true }, 'none Invalid'],
    [3, 'rewritten history', introduced, { history: 'rewritten' }, 'none Blocked HistoryRewritten'],
    [3, 'a fetch that is too old', drift, { history: 'stale' }, 'none Blocked GitStale'],
    [4, 'a change that the service rejected', { ...introduced, wasRefused: true }, {}, 'hold Blocked Refused'],
    [
      4,
      'drift that the service rejected, even under --on-drift report',
      { ...drift, wasRefused: true },
      under({ onDrift: 'report' }),
      'hold Blocked Refused',
    ],
    [5, '--on-git report', introduced, under({ onGit: 'report' }), 'hold OutOfSync Reported'],
    [5, 'an unrecorded difference', unrecorded, {}, 'hold OutOfSync Unrecorded'],
    [6, 'drift that was seen only once', { ...drift, isConfirmed: false }, {}, 'hold OutOfSync DriftUnconfirmed'],
    [7, '--on-drift report', drift, under({ onDrift: 'report' }), 'hold OutOfSync Drift'],
    [8, 'drift that a move reverts', { ...drift, kind: 'move', impact: 'move' }, {}, 'hold OutOfSync DriftUnsafe'],
    [
      8,
      'drift that a replacement reverts',
      { ...drift, kind: 'replace', impact: 'replace' },
      {},
      'hold OutOfSync DriftUnsafe',
    ],
    [
      8,
      'drift that a deletion reverts',
      { ...drift, kind: 'delete', impact: 'delete' },
      {},
      'hold OutOfSync DriftUnsafe',
    ],
    [
      8,
      'drift whose revert disconnects, even with a window',
      { ...drift, impact: 'disconnect' },
      {},
      'hold OutOfSync DriftUnsafe',
    ],
    [
      8,
      'drift whose revert restarts, without a window',
      { ...drift, hasWindow: false },
      {},
      'hold OutOfSync DriftUnsafe',
    ],
    [
      8,
      'drift whose revert may restart, without a window',
      { ...drift, impact: 'may-restart', hasWindow: false },
      {},
      'hold OutOfSync DriftUnsafe',
    ],
    [9, 'drift that came back three times', { ...drift, reverts: 3 }, {}, 'hold Blocked Conflict'],
  ])('row %s applies to %s', (row, _what, difference, situation, expected) => {
    const verdict = decideDifference(difference, { ...FINE, ...situation })
    expect([verdict.action, verdict.state, verdict.reason].filter(Boolean).join(' ')).toBe(expected)
    expect(verdict.row).toBe(row)
  })

  test.each<[string, Difference, Partial<Situation>]>([
    ['drift that came back twice', { ...drift, reverts: 2 }, {}],
    ['drift with a restart window', drift, {}],
    ['drift whose revert disrupts nobody', { ...drift, impact: 'none', hasWindow: false }, {}],
    ['a compute that was deleted by hand', { ...drift, kind: 'create', impact: 'none' }, {}],
    ['an introduced deletion', { ...introduced, kind: 'delete', impact: 'delete' }, {}],
    ['an introduced change without a window', { ...introduced, hasWindow: false }, {}],
    ['an introduced change under --on-drift report', introduced, under({ onDrift: 'report' })],
    ['drift under --on-git report', drift, under({ onGit: 'report' })],
  ])('no row applies to %s, which stays in the plan', (_what, difference, situation) => {
    expect(decideDifference(difference, { ...FINE, ...situation })).toEqual({ action: 'plan', state: 'Progressing' })
  })
})

const SUNDAY_3 = Date.parse('2026-11-22T03:00:00Z')
const on = (day: RestartWindow['days'][number], from = '02:00', to = '04:00'): RestartWindow => ({
  days: [day],
  from,
  to,
  timezone: 'UTC',
})
const step = (more: Partial<Step>): Step => ({
  id: 'a#1',
  change: 'a',
  kind: 'update',
  project: 'p',
  branch: { id: 'br-1', name: 'main' },
  compute: { type: 'read_write' },
  request: { method: 'PATCH', path: '/x' },
  impact: 'restart',
  consents: ['restart'],
  reason: 'VALUE_DIFFERS',
  rule: '',
  after: [],
  actions: [],
  ...more,
})

describe('rows 10 to 17 of the decision table, for a step', () => {
  const CONTEXT = {
    policy: POLICY,
    now: SUNDAY_3,
    isDenied: false,
    isWaveHeld: false,
    mayInterrupt: () => true,
    chainMs: () => 0,
  }
  const never = [on('sun'), on('mon')]

  test.each<[number, string, Partial<Step>, Partial<typeof CONTEXT>, string]>([
    [10, 'a protected step', { refused: 'protected', impact: 'delete' }, {}, 'skip Blocked Protected'],
    [
      10,
      'a missing consent',
      { consents: ['delete'] },
      { policy: { ...POLICY, allow: new Set() } },
      'skip Blocked NotAllowed',
    ],
    [10, 'a plan that a policy denies', { impact: 'none' }, { isDenied: true }, 'skip Blocked Policy'],
    [11, 'an unfinished earlier wave', { impact: 'none' }, { isWaveHeld: true }, 'wait Scheduled Wave'],
    [13, 'too many attempts today', {}, { mayInterrupt: () => false }, 'skip Blocked TooManyRestarts'],
    [12, 'a step that disrupts nobody', { impact: 'none', windows: [on('mon')] }, {}, 'run Progressing'],
    [14, 'a step without a window', {}, {}, 'run Progressing'],
    [15, 'an open window', { windows: [on('sun')] }, {}, 'run Progressing'],
    [
      15,
      'a chain that fits into the window',
      { windows: [on('sun')] },
      { chainMs: () => 59 * 60_000 },
      'run Progressing',
    ],
    [16, 'windows that never overlap', { windows: never }, {}, 'skip Blocked NoCommonWindow'],
    [
      16,
      'a chain that takes longer than the window is open',
      { windows: [on('sun')] },
      { chainMs: () => 3 * 60 * 60_000 },
      'skip Blocked NoCommonWindow',
    ],
    [
      17,
      'a chain that does not fit into the rest of the window',
      { windows: [on('sun')] },
      { chainMs: () => 61 * 60_000 },
      'wait Scheduled 2026-11-29T02:00:00.000Z',
    ],
    [17, 'a closed window', { windows: [on('mon')] }, {}, 'wait Scheduled 2026-11-23T02:00:00.000Z'],
    [
      17,
      'a window at the moment it closes',
      { windows: [on('sun', '02:00', '03:00')] },
      {},
      'wait Scheduled 2026-11-29T02:00:00.000Z',
    ],
  ])('row %s applies to %s', (row, _what, own, context, expected) => {
    const verdict = decideSteps([step(own)], { ...CONTEXT, ...context }).get('a#1')
    expect([verdict?.action, verdict?.state, verdict?.reason, verdict?.opensAt].filter(Boolean).join(' ')).toBe(
      expected,
    )
    expect(verdict?.row).toBe(row)
  })

  test('a step waits for a waiting step that it depends on, but not for a waiting step that it merely follows', () => {
    const steps = [
      step({ windows: [on('mon')] }),
      step({ id: 'b#1', impact: 'none', after: ['a#1'] }),
      step({ id: 'c#1', after: ['a#1'], inTurnAfter: ['a#1'] }),
      step({ id: 'd#1', after: ['b#1'], refused: 'protected' }),
      step({ id: 'e#1', after: ['c#1'], windows: [on('mon')] }),
    ]
    expect([...decideSteps(steps, CONTEXT)].map(([id, { action, row }]) => `${id} ${action} ${row}`)).toEqual([
      'a#1 wait 17',
      'b#1 wait 17',
      'c#1 run 14',
      'd#1 skip 10',
      'e#1 wait 17',
    ])
  })
})
