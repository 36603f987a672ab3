/** The decision table of docs/decisions/agent.md, row by row. */
import { describe, expect, test } from 'vitest'
import {
  type AgentPolicy,
  type Difference,
  decideDifference,
  decideSteps,
  type Situation,
} from '../../src/agent/index.ts'
import { CONSENTS, type RestartWindow, type Step } from '../../src/model/index.ts'

const POLICY: AgentPolicy = { onGit: 'apply', onDrift: 'revert', onUnrecorded: 'apply', allow: new Set(CONSENTS) }
const FINE: Situation = { policy: POLICY, isSuspended: false, history: 'known' }
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

describe('rows 1 to 9, of a difference', () => {
  test.each<[number | undefined, string, Difference, Partial<Situation>, string]>([
    [1, 'a suspended project', introduced, { isSuspended: true }, 'none Suspended'],
    [1, 'suspended and rewritten', introduced, { isSuspended: true, history: 'rewritten' }, 'none Suspended'],
    [3, 'rewritten history', introduced, { history: 'rewritten' }, 'none Blocked HistoryRewritten'],
    [3, 'a fetch that is too old', drift, { history: 'stale' }, 'none Blocked GitStale'],
    [4, 'a change that the service refuses', { ...introduced, wasRefused: true }, {}, 'hold Blocked Refused'],
    [4, 'the same by choice', { ...drift, wasRefused: true }, under({ onDrift: 'report' }), 'hold Blocked Refused'],
    [5, '--on-git report', introduced, under({ onGit: 'report' }), 'hold OutOfSync Reported'],
    [5, '--on-unrecorded report', unrecorded, under({ onUnrecorded: 'report' }), 'hold OutOfSync Unrecorded'],
    [6, 'drift that was seen once', { ...drift, isConfirmed: false }, {}, 'hold OutOfSync DriftUnconfirmed'],
    [7, '--on-drift report', drift, under({ onDrift: 'report' }), 'hold OutOfSync Drift'],
    [8, 'drift that a move reverts', { ...drift, kind: 'move', impact: 'move' }, {}, 'hold OutOfSync DriftUnsafe'],
    [8, 'a replacement', { ...drift, kind: 'replace', impact: 'replace' }, {}, 'hold OutOfSync DriftUnsafe'],
    [8, 'a deletion', { ...drift, kind: 'delete', impact: 'delete' }, {}, 'hold OutOfSync DriftUnsafe'],
    [8, 'a disconnect, in a window too', { ...drift, impact: 'disconnect' }, {}, 'hold OutOfSync DriftUnsafe'],
    [8, 'a restart without a window', { ...drift, hasWindow: false }, {}, 'hold OutOfSync DriftUnsafe'],
    [8, 'a possible one', { ...drift, impact: 'may-restart', hasWindow: false }, {}, 'hold OutOfSync DriftUnsafe'],
    [9, 'drift that came back three times', { ...drift, reverts: 3 }, {}, 'hold Blocked Conflict'],
    [undefined, 'twice', { ...drift, reverts: 2 }, {}, 'plan Progressing'],
    [undefined, 'drift with a window', drift, {}, 'plan Progressing'],
    [undefined, 'drift that harms nobody', { ...drift, impact: 'none', hasWindow: false }, {}, 'plan Progressing'],
    [undefined, 'a lost compute', { ...drift, kind: 'create', impact: 'none' }, {}, 'plan Progressing'],
    [undefined, 'an introduced deletion', { ...introduced, kind: 'delete', impact: 'delete' }, {}, 'plan Progressing'],
    [undefined, 'an introduced change without a window', { ...introduced, hasWindow: false }, {}, 'plan Progressing'],
    [undefined, 'what the record does not know, by choice', unrecorded, {}, 'plan Progressing'],
    [undefined, 'a commit, where drift is reported', introduced, under({ onDrift: 'report' }), 'plan Progressing'],
  ])('row %s: %s', (row, _what, difference, situation, expected) => {
    const verdict = decideDifference(difference, { ...FINE, ...situation })
    expect([verdict.action, verdict.state, verdict.reason].filter(Boolean).join(' ')).toBe(expected)
    expect(verdict.row).toBe(row)
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
  reason: 'SIZE_DIFFERS',
  rule: '',
  after: [],
  actions: [],
  ...more,
})

describe('rows 10 to 16, of a step', () => {
  const CONTEXT = {
    policy: POLICY,
    now: SUNDAY_3,
    isDenied: false,
    isOverBudget: false,
    isWaveHeld: false,
    mayInterrupt: () => true,
    continuing: new Set<string>(),
  }
  const never = [on('sun'), on('mon')]

  test.each<[number, string, Partial<Step>, Partial<typeof CONTEXT>, string]>([
    [10, 'protected', { refused: 'protected', impact: 'delete' }, {}, 'skip Blocked Protected'],
    [
      10,
      'no consent',
      { consents: ['delete'] },
      { policy: { ...POLICY, allow: new Set() } },
      'skip Blocked NotAllowed',
    ],
    [10, 'denied by a policy', { impact: 'none' }, { isDenied: true }, 'skip Blocked Policy'],
    [11, 'over a budget', { impact: 'none' }, { isOverBudget: true }, 'skip Blocked Budget'],
    [11, 'an earlier wave is not done', { impact: 'none' }, { isWaveHeld: true }, 'wait Scheduled Wave'],
    [13, 'tried too often today', {}, { mayInterrupt: () => false }, 'skip Blocked TooManyRestarts'],
    [12, 'nobody is interrupted', { impact: 'none', windows: [on('mon')] }, {}, 'run Progressing'],
    [13, 'no window', {}, {}, 'run Progressing'],
    [14, 'an open window', { windows: [on('sun')] }, {}, 'run Progressing'],
    [14, 'a chain that goes on', { windows: [on('mon')] }, { continuing: new Set(['a#1']) }, 'run Progressing'],
    [15, 'windows that never meet', { windows: never }, {}, 'skip Blocked NoCommonWindow'],
    [16, 'a closed window', { windows: [on('mon')] }, {}, 'wait Scheduled 2026-11-23T02:00:00.000Z'],
    [
      16,
      'the moment at which it closes',
      { windows: [on('sun', '02:00', '03:00')] },
      {},
      'wait Scheduled 2026-11-29T02:00:00.000Z',
    ],
  ])('row %s: %s', (row, _what, own, context, expected) => {
    const verdict = decideSteps([step(own)], { ...CONTEXT, ...context }).get('a#1')
    expect([verdict?.action, verdict?.state, verdict?.reason, verdict?.opensAt].filter(Boolean).join(' ')).toBe(
      expected,
    )
    expect(verdict?.row).toBe(row)
  })

  test('a step that needs another one waits with it; one that only takes its turn does not', () => {
    const steps = [
      step({ windows: [on('mon')] }),
      step({ id: 'b#1', impact: 'none', after: ['a#1'] }),
      step({ id: 'c#1', after: ['a#1'], inTurnAfter: ['a#1'] }),
      step({ id: 'd#1', after: ['b#1'], refused: 'protected' }),
    ]
    expect([...decideSteps(steps, CONTEXT)].map(([id, { action, row }]) => `${id} ${action} ${row}`)).toEqual([
      'a#1 wait 16',
      'b#1 wait 16',
      'c#1 run 13',
      'd#1 skip 10',
    ])
  })
})
