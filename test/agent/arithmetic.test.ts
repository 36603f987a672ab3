/** Back-off, the request rate, wakes and suspensions. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterApply, beforeStep, usedIn, withSettled } from '../../src/agent/act/progress.ts'
import { RestartLimit } from '../../src/agent/act/restart-limit.ts'
import { isSuspended, suspend } from '../../src/agent/control.ts'
import { NEW_PROJECT_FILE, type ProjectFile } from '../../src/agent/data-folder.ts'
import {
  countReverts,
  isConfirmed,
  mayInterrupt,
  mayRetry,
  waitAfter,
  wasRefused,
} from '../../src/agent/decide/retries.ts'
import { type Round, worstOf } from '../../src/agent/decide/round.ts'
import {
  afterWindows,
  dueWakes,
  jittered,
  missedWindow,
  startDelay,
  timerFor,
  wakesAfterRound,
  windowWakes,
} from '../../src/agent/decide/wakes.ts'
import { afterTooMany, allowance, intervalThatFits, REQUESTS_PER_REFRESH } from '../../src/agent/source/accounts.ts'
import {
  AGENT_STATES,
  type AgentStatus,
  agentExitCode,
  type Outcome,
  type RestartWindow,
  type Step,
  type StepOutcome,
} from '../../src/model/index.ts'
import { planOf, world as planWorld } from '../planner/world.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describe('retries', () => {
  test('the wait after a failure starts at 30 s and doubles up to 15 min', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 100].map((failures) => waitAfter(failures) / 1_000)).toEqual([
      30, 60, 120, 240, 480, 900, 900, 900,
    ])
  })

  test.each([
    [undefined, true],
    [DAY, true],
    [DAY + 1, false],
    [DAY + 15 * MINUTE, false],
    // The clock was set back.
    [DAY + 15 * MINUTE + 1, true],
  ])('with the next attempt at %s, the agent may try now: %s', (retryAt, expected) => {
    expect(mayRetry({ retryAt }, DAY)).toBe(expected)
  })

  const step = { change: 'a', compute: { type: 'read_write' } } as Step
  const attempted = (...times: readonly number[]) => ({
    attempts: times.map((at) => ({ at, compute: 'a', interrupts: true, used: {} })),
  })

  test.each([
    ['allowed after two attempts', attempted(1, 2), true],
    ['rejected after three attempts in 24 hours', attempted(1, 2, 3), false],
    ['allowed once the first of three attempts is 24 hours old', attempted(0, 2, 3), true],
    [
      'allowed after three attempts on another compute',
      { attempts: attempted(1, 2, 3).attempts.map((one) => ({ ...one, compute: 'b' })) },
      true,
    ],
    [
      'allowed after three attempts that interrupted nobody',
      { attempts: attempted(1, 2, 3).attempts.map((one) => ({ ...one, interrupts: false })) },
      true,
    ],
  ])('a step that interrupts connections is %s', (_, file, expected) => {
    expect(mayInterrupt(file, step, DAY)).toBe(expected)
  })

  test('what a step uses up is counted once for its change, and only if the service accepts it', () => {
    const plan = planOf(
      { branches: { main: { primary: { size: 4 } }, other: { primary: 'absent' } } },
      planWorld({ main: { primary: { id: 'ep-1', size: 1 } }, other: { primary: { id: 'ep-2', size: 8 } } }),
    )
    const started = plan.steps.reduce((file, one) => beforeStep(file, one, plan, DAY), NEW_PROJECT_FILE)
    const outcomes = (httpStatus: number): readonly StepOutcome[] =>
      plan.steps.map(({ id, kind }) =>
        kind === 'delete'
          ? { step: id, status: 'done', operations: [], durationMs: 0 }
          : { step: id, status: 'failed', httpStatus, operations: [], durationMs: 0 },
      )
    const used = { maxRestarts: 1, maxDeletes: 1, maxCuIncrease: -5, maxCuHoursIncrease: 0 }
    expect(usedIn(started, DAY)).toEqual(used)
    expect(usedIn(withSettled(started, outcomes(500)), DAY)).toEqual(used)
    expect(usedIn(withSettled(started, outcomes(422)), DAY)).toEqual({ ...used, maxRestarts: 0, maxCuIncrease: -8 })
    expect(usedIn(started, 2 * DAY)).toEqual({})
  })

  test.each([
    ['drift', '2', 1],
    ['introduced', '1', 0],
    ['unrecorded', undefined, 0],
  ])('a step whose difference is %s (base %s) counts as %i reverts', (_origin, base, count) => {
    const plan = planOf({ branches: { main: { primary: { size: 2 } } } }, planWorld({ main: { primary: { size: 1 } } }))
    const [{ id = '' } = {}] = plan.steps
    const entries = {
      'ep-br-main/size': { want: '2', seen: '1', agreed: false, ...(base === undefined ? {} : { base }) },
    }
    const record = { program: '', manifests: '', entries, computes: {}, rules: {} }
    const outcome = {
      interrupted: false,
      notes: [],
      steps: [{ step: id, status: 'done', operations: [], durationMs: 0 }],
    }
    const { reverts } = afterApply({ ...NEW_PROJECT_FILE, record }, plan, outcome as Outcome, 'v', DAY)
    expect(reverts).toHaveLength(count)
  })

  test('an unfinished chain keeps the version that it last ran with, whatever else is applied', () => {
    const world = planWorld({ main: { primary: { id: 'ep-1', size: 1 } } })
    const plan = planOf({ branches: { main: { primary: { size: 2 } } } }, world)
    const chainAfter = (change: string) => {
      const file = { ...NEW_PROJECT_FILE, chain: { version: 'a', changes: [change], branches: ['main'] } }
      const steps = plan.steps.map(({ id }) => ({ step: id, status: 'failed', operations: [], durationMs: 0 }))
      return afterApply(file, plan, { interrupted: false, notes: [], steps } as Outcome, 'b', DAY).chain
    }
    expect(chainAfter('another')).toMatchObject({ version: 'a', changes: ['another'] })
    expect(chainAfter(plan.changes[0]?.id ?? '')).toMatchObject({ version: 'b' })
  })

  test('reverts are counted for 7 days, separately for each declared value', () => {
    const reverts = [0, 1, 2].map((at) => ({ at, key: 'k', want: '1' }))
    expect(countReverts(reverts, 'k', '1', 7 * DAY)).toBe(2)
    expect(countReverts(reverts, 'k', '2', DAY)).toBe(0)
    expect(countReverts(reverts, 'other', '1', DAY)).toBe(0)
  })

  test('the agent gives up on a change after one attempt without effect or three rejections of the same values', () => {
    const rejected = { key: 'k', want: '2', live: '1', why: 'rejected' } as const
    const same = { key: 'k', want: '2', live: '1' }
    expect(wasRefused([{ ...rejected, why: 'not-effective' }], same)).toBe(true)
    expect(wasRefused([rejected, rejected], same)).toBe(false)
    expect(wasRefused([rejected, rejected, rejected], same)).toBe(true)
    for (const other of [{ key: 'l' }, { want: '3' }, { live: '3' }])
      expect(wasRefused([rejected, rejected, rejected], { ...same, ...other })).toBe(false)
  })

  test.each([
    [true, { firstSeenAt: 0, fetchedAt: 30_000, refreshedAt: MINUTE, isChanging: false }],
    [false, { firstSeenAt: 0, fetchedAt: 30_000, refreshedAt: MINUTE - 1, isChanging: false }],
    [false, { firstSeenAt: 0, fetchedAt: 0, refreshedAt: MINUTE, isChanging: false }],
    [false, { firstSeenAt: 0, fetchedAt: MINUTE + 1, refreshedAt: MINUTE, isChanging: false }],
    [false, { firstSeenAt: 0, fetchedAt: 30_000, refreshedAt: MINUTE, isChanging: true }],
  ])('isConfirmed returns %s for the sighting %j', (expected, sighting) => {
    expect(isConfirmed(sighting)).toBe(expected)
  })
})

describe('the request rate', () => {
  test.each([
    [1, 5 * MINUTE, 5],
    [100, 1_000, 1],
    [1_000, MINUTE, 4.8],
    [1_000, 5 * MINUTE, 5],
    [10_000, 5 * MINUTE, 47.6],
  ])('%i projects with an interval of %i ms are refreshed every %f min', (projects, wanted, minutes) => {
    expect(intervalThatFits(wanted, projects, allowance(undefined, 0)) / MINUTE).toBeCloseTo(minutes, 1)
  })

  test('a 429 response halves the allowance, which grows back within ten minutes', () => {
    const limited = afterTooMany(undefined, MINUTE)
    expect([1, 2, 6, 11, 60].map((minute) => allowance(limited, minute * MINUTE))).toEqual([
      175, 192.5, 262.5, 350, 350,
    ])
  })

  test('429 responses within a minute halve the allowance once, and later ones halve it again', () => {
    const first = afterTooMany(undefined, 0)
    expect(afterTooMany(first, MINUTE - 1)).toBe(first)
    expect(afterTooMany(first, MINUTE)).toEqual({ at: MINUTE, perMinute: 192.5 / 2 })
  })

  test('the allowance never falls below 10 requests per minute', () => {
    let limited = afterTooMany(undefined, 0)
    for (let minute = 1; minute < 20; minute += 1) limited = afterTooMany(limited, minute * MINUTE)
    expect(allowance(limited, 20 * MINUTE)).toBeGreaterThanOrEqual(10)
  })

  test('the refreshes of any number of projects fit within the allowance, and jitter does not change the average interval', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.double({ min: 10, max: 350, noNaN: true }),
        (projects, perMinute) => {
          const interval = intervalThatFits(MINUTE, projects, perMinute)
          expect(((projects * REQUESTS_PER_REFRESH) / interval) * MINUTE).toBeLessThanOrEqual(perMinute * 1.000001)
          expect((jittered(interval, 0) + jittered(interval, 1)) / 2).toBeCloseTo(interval)
          expect(startDelay(projects - 1, projects, interval)).toBeLessThan(interval)
        },
      ),
    )
  })
})

describe('wakes', () => {
  test.each([
    ['at its time', 9 * MINUTE, true, 9 * MINUTE],
    ['in a minute if it was due but could not be made', 5 * MINUTE, true, 7 * MINUTE],
    ['not at all if it is past and nothing is due', 5 * MINUTE, false, undefined],
  ])('a retry comes %s', (_, retryAt, isDue, expected) => {
    const times = { now: 6 * MINUTE, interval: 5 * MINUTE, random: () => 0.5 }
    const wakes = wakesAfterRound({ ...NEW_PROJECT_FILE, retryAt }, { verdicts: new Map() }, isDue, times)
    expect(wakes.find(({ cause }) => cause === 'backoff')?.at).toBe(expected)
  })

  test('due wakes are ordered by cause (window, commit, interval), then by due time, then by project', () => {
    const wakes = [
      { project: 'd', at: 1, cause: 'interval' },
      { project: 'x', at: 3, cause: 'commit' },
      { project: 'a', at: 3, cause: 'commit' },
      { project: 'b', at: 2, cause: 'commit' },
      { project: 'c', at: 5, cause: 'window' },
      { project: 'e', at: 6, cause: 'window' },
    ] as const
    expect(dueWakes(wakes, 5).map(({ project }) => project)).toEqual(['c', 'b', 'a', 'x', 'd'])
  })

  test('the timer ends at the next wake and never exceeds one minute', () => {
    expect(timerFor([], 0)).toBe(MINUTE)
    expect(timerFor([{ project: 'a', at: 30 * DAY, cause: 'window' }], 0)).toBe(MINUTE)
    expect(timerFor([{ project: 'a', at: 10, cause: 'window' }], 3)).toBe(7)
    expect(timerFor([{ project: 'a', at: 10, cause: 'window' }], 30)).toBe(0)
  })

  test('a project is refreshed shortly before its window opens and again when it opens', () => {
    expect(windowWakes(10 * MINUTE, 0, 0.5)).toEqual([
      { at: 7.5 * MINUTE, cause: 'interval' },
      { at: 10 * MINUTE, cause: 'window' },
    ])
    expect(windowWakes(4 * MINUTE, 0, 0.5)).toHaveLength(1)
  })

  const agent = { now: 200, runningSince: 0, isSuspended: false, isUnusable: false }
  test.each([
    ['not missed if its work is done', undefined, false, agent, false],
    ['not missed while it is open', undefined, true, { ...agent, now: 199 }, false],
    ['missed for lack of time', 'too-little-time', true, agent, false],
    [
      'missed for lack of time if the agent started as it opened',
      'too-little-time',
      true,
      { ...agent, runningSince: 100 },
      false,
    ],
    ['missed because a step failed', 'failed', true, agent, true],
    ['missed because the manifests could not be fetched', 'failed', true, { ...agent, isUnusable: true }, false],
    ['missed because the project is suspended', 'suspended', true, { ...agent, isSuspended: true }, true],
    ['missed if the agent started after it', 'agent-down', true, { ...agent, runningSince: 300, now: 400 }, false],
    ['missed if the agent started during it', 'agent-down', true, { ...agent, runningSince: 150 }, false],
  ])('a window is %s', (_, cause, isWorkLeft, state, failed) => {
    expect(missedWindow({ opensAt: 100, closesAt: 200, failed }, isWorkLeft, state)?.cause).toBe(cause)
  })

  const sunday = (from: number, to: number): RestartWindow => ({
    days: ['sun'],
    from: `0${from}:00`,
    to: `0${to}:00`,
    timezone: 'UTC',
  })
  const waiting = (windows: readonly RestartWindow[], more: Partial<Step> = {}) =>
    ({ id: 'a', impact: 'restart', windows, ...more }) as Step
  const early = waiting([sunday(2, 4)])
  const roundOf = (steps: readonly Step[], action = 'wait', exhausted: readonly Step[] = []) =>
    ({ plan: { steps }, steps: new Map(steps.map(({ id }) => [id, { action }])), exhausted }) as unknown as Round
  const hours = (opensAt: number, closesAt: number, failed = false) => ({ opensAt, closesAt, failed })
  test.each<[string, Round, known: ReturnType<typeof hours> | undefined, now: number, ...expected: unknown[]]>([
    ['for the window that is open', roundOf([early]), undefined, 3, hours(3, 4)],
    ['for the window that opens next', roundOf([early]), undefined, 1, hours(2, 4)],
    ['for the first of two', roundOf([waiting([sunday(5, 6)], { id: 'b' }), early]), undefined, 1, hours(2, 4)],
    ['for none if its step cannot run', roundOf([early], 'skip'), undefined, 1, undefined],
    ['for the window of a step that was tried too often', roundOf([], '', [early]), undefined, 1, hours(2, 4)],
    ['for none if its step disrupts nobody', roundOf([waiting([sunday(2, 4)], { impact: 'none' })]), undefined, 1],
    ['for none if its step has none', roundOf([waiting([])]), undefined, 1],
    ['for none if windows never overlap', roundOf([waiting([sunday(2, 4), sunday(5, 6)])]), undefined, 1],
    ['for the known window, as it was, until it opens', roundOf([early]), hours(2, 3, true), 1, hours(2, 3, true)],
    ['for the known window once it is open', roundOf([early]), hours(2, 3, true), 2, hours(2, 4, true)],
    ['for the next window if the known one ends before', roundOf([early]), hours(0, 2, true), 1, hours(2, 4)],
    ['for the next window if the known one opens after it', roundOf([early]), hours(3, 4, true), 1, hours(2, 4)],
    [
      'for the next window, and has missed the known one',
      roundOf([early]),
      hours(0, 1, true),
      1,
      hours(2, 4),
      'failed',
    ],
    ['for none if the work is done, and has missed none', roundOf([]), hours(0, 1, true), 1],
  ])('a project waits %s', (_, round, known, now, wait, cause) => {
    const time = (hour: number): number => Date.parse('2026-11-22T00:00:00Z') + hour * 60 * MINUTE
    const timed = (one: typeof known) => one && { ...one, opensAt: time(one.opensAt), closesAt: time(one.closesAt) }
    const after = afterWindows(round, timed(known), { ...agent, now: time(now) })
    expect(after.wait).toEqual(timed(wait as typeof known))
    expect(after.missed?.cause).toBe(cause)
  })

  test.each<[string, Pick<ProjectFile, 'retryAt' | 'wait'>, reason: string, isDue: boolean, minutes: unknown]>([
    ['at its interval', {}, 'Drift', false, []],
    ['after its back-off', { retryAt: 5 * MINUTE }, '', false, ['5 backoff']],
    ['soon if a step is due', {}, '', true, ['1 backoff']],
    ['soon to confirm drift', {}, 'DriftUnconfirmed', false, ['1 interval']],
    [
      'around its window',
      { wait: hours(20 * MINUTE, 80 * MINUTE) },
      '',
      false,
      ['17.5 interval', '20 window', '80 window'],
    ],
    ['at the end of an open window', { wait: hours(0, 80 * MINUTE) }, '', false, ['80 window']],
  ])('a project is due %s', (_, file, reason, isDue, expected) => {
    const round = { verdicts: new Map([['k', { reason }]]) } as unknown as Round
    const times = { now: 0, interval: 10 * MINUTE, random: () => 0.5 }
    const wakes = wakesAfterRound({ ...NEW_PROJECT_FILE, ...file }, round, isDue, times)
    expect(wakes.map(({ at, cause }) => `${at / MINUTE} ${cause}`)).toEqual(['10 interval', ...(expected as string[])])
  })
})

test('a suspension requires a reason and ends after at most 30 days', () => {
  const suspension = suspend(10, MINUTE, 'load test')
  expect([isSuspended(suspension, 10), isSuspended(suspension, MINUTE + 10), isSuspended(undefined, 0)]).toEqual([
    true,
    false,
    false,
  ])
  expect(() => suspend(0, MINUTE, ' ')).toThrow(/needs a reason/)
  expect(() => suspend(0, 31 * DAY, 'x')).toThrow(/at most 30 days/)
  expect(() => suspend(0, Number.NaN, 'x')).toThrow(/at most 30 days/)
})

test('a project shows the first of its worst states, and each state has an exit code', () => {
  expect(worstOf([])).toEqual({ state: 'Synced' })
  const blocked = (reason: AgentStatus['reason']) => ({ state: 'Blocked', reason }) as const
  const found = [{ state: 'Scheduled' }, blocked('Policy'), blocked('NotAllowed'), { state: 'OutOfSync' }] as const
  expect(worstOf(found)).toEqual(blocked('Policy'))
  expect(AGENT_STATES.map(agentExitCode)).toEqual([3, 3, 3, 3, 2, 5, 2, 0, 2])
})

describe('the limit of restarts of all projects', () => {
  const attempt = (at: number) => ({ at, compute: 'c', interrupts: true, used: { maxRestarts: 1 } })
  const limitOf = (limit: number, ages: Readonly<Record<string, readonly number[]>>) =>
    new RestartLimit(limit, () => Object.entries(ages).map(([id, times]) => [id, { attempts: times.map(attempt) }]))

  test('a project goes whole or waits until enough restarts are a day old', () => {
    const limit = limitOf(3, { a: [5, 9], b: [] })
    expect(limit.take('b', { restarts: 2, wave: 0 }, 10)).toEqual({ isFree: false, freesAt: DAY + 5 })
    expect(limit.take('b', { restarts: 2, wave: 0 }, DAY + 5)).toEqual({ isFree: true })
    expect(limit.take('b', { restarts: 4, wave: 0 }, DAY + 5).isFree).toBe(false)
  })

  test('running projects have reserved theirs, and the earlier wave goes before the older wish', () => {
    const limit = limitOf(1, {})
    expect(limit.take('a', { restarts: 1, wave: 0 }, 0).isFree).toBe(true)
    expect(limit.take('b', { restarts: 1, wave: 1 }, 1).isFree).toBe(false)
    expect(limit.take('d', { restarts: 1, wave: 0 }, 2).isFree).toBe(false)
    expect(limit.take('c', { restarts: 1, wave: 0 }, 2).isFree).toBe(false)
    // The service refused the restart of `a`, so it is given back.
    expect(limit.settle('a')).toBe('c')
    expect(limit.take('b', { restarts: 1, wave: 1 }, 3).isFree).toBe(false)
    expect(limit.take('c', { restarts: 1, wave: 0 }, 3).isFree).toBe(true)
    expect(limit.waiting).toBe(2)
  })
})
