/** How waits read operations and end, and what they cost: requests, and the time from an operation’s end to its step’s. */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/api/index.ts'
import { chainTimes, Timings, waitForOperations } from '../../src/apply/index.ts'
import type { Observed, PastOperation } from '../../src/model/index.ts'
import { fakeApi, fakeClock, operation, refused } from './fake-api.ts'
import { creating, deleting, planWith, step } from './small-plans.ts'

const past = (action: string, ...durations: readonly number[]): readonly PastOperation[] =>
  durations.map((durationMs) => ({ action, durationMs }))

const observed = (projects: Readonly<Record<string, readonly PastOperation[]>>): Observed => ({
  takenAt: '',
  missing: [],
  projects: Object.entries(projects).map(([id, pastOperations]) => ({
    id,
    branches: [],
    computes: [],
    pastOperations,
  })),
})

/** Waits for a series of operations: each starts when the previous one ends, and runs for its given duration. */
const wait = async (
  durations: readonly number[],
  timings: Timings,
  actions: readonly string[] = [],
  roundTripMs = 0,
) => {
  const clock = fakeClock()
  const began = clock.now()
  const ends = durations.map((_, index) => durations.slice(0, index + 1).reduce((sum, ms) => sum + ms, 0))
  let looks = 0
  let reads = 0
  const show = (): readonly Operation[] =>
    ends.map((end, index) => ({
      ...operation(`op-${index}`, { action: actions[index] ?? 'apply_config' }),
      ...(clock.now() - began >= end ? { status: 'finished', totalDurationMs: durations[index] ?? 0 } : {}),
    }))
  const api = {
    ...fakeApi(),
    listOperations: async () => {
      looks += 1
      await clock.sleep(roundTripMs)
      return { operations: show() }
    },
  }
  const verify = async () => {
    reads += 1
    return clock.now() - began
  }
  const waited = await waitForOperations(
    show(),
    { api, clock, project: 'p', timeoutMs: 600_000, signal: undefined, timings, onProgress: async () => undefined },
    verify,
  )
  return { ...waited, looks, reads, lateMs: clock.now() - began - (ends.at(-1) ?? 0) }
}

interface WatchOptions extends Partial<Parameters<typeof waitForOperations>[1]> {
  readonly started?: readonly Operation[]
  readonly verify?: (() => Promise<string>) | undefined
}

/** Waits for op-1, or for `started`. Successive reads of the list show these states of op-1. The last one is repeated. */
const watch = async (looks: readonly (Partial<Operation> | Error)[], options: WatchOptions = {}) => {
  const { started = [operation('op-1')], verify, ...more } = options
  const clock = fakeClock()
  const began = clock.now()
  const left = [...looks]
  const progress: unknown[] = []
  const listOperations = async () => {
    const look = (left.length > 1 ? left.shift() : left[0]) ?? {}
    if (look instanceof Error) throw look
    return { operations: [operation('op-1', look)] }
  }
  const waited = await waitForOperations(
    started,
    {
      api: { ...fakeApi(), listOperations },
      ...{ clock, project: 'p', timeoutMs: 600_000, signal: undefined },
      onProgress: async ({ status, failuresCount }) => void progress.push([status, failuresCount]),
      ...more,
    },
    verify,
  )
  return { ...waited, progress, seconds: (clock.now() - began) / 1_000 }
}

const STEADY = [0.9, 0.94, 0.96, 0.98, 1, 1, 1.02, 1.04, 1.06, 1.1]

describe('an operation that takes as long as past ones', () => {
  test.each([100, 700, 2_000, 10_000])('an operation of %i ms is polled once', async (ms) => {
    const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * ms)) }))
    expect(await wait([ms], timings)).toMatchObject({ ok: true, looks: 1 })
  })

  test('the end of a 2 s operation is noticed within 0.2 s', async () => {
    const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * 2_000)) }))
    expect((await wait([2_000], timings)).lateMs).toBeLessThanOrEqual(200)
  })

  test('two operations that run one after the other are polled once', async () => {
    const timings = new Timings(observed({ p: [...past('apply_config', 2_000), ...past('suspend_compute', 500)] }))
    expect(await wait([2_000, 500], timings, ['apply_config', 'suspend_compute'])).toMatchObject({ looks: 1 })
  })
})

test('the first poll is sent after 15 s at most, and later ones at intervals of 5 s at most', async () => {
  const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * 400_000)) }))
  // The last poll is at 35 s.
  expect(await wait([34_000], timings)).toMatchObject({ looks: 5, lateMs: 1_000 })
})

test('a poll is sent earlier by the round-trip time', async () => {
  const timings = new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(2_000)) }))
  timings.sawRoundTrip(300)
  timings.sawRoundTrip(50)
  const { looks, lateMs } = await wait([2_000], timings, [], 50)
  expect(looks).toBe(1)
  expect(lateMs).toBeLessThanOrEqual(15)
})

describe('the read that verifies the result', () => {
  const timings = () => new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(2_000)) }))

  test('runs concurrently with the poll that sees the operation end', async () => {
    expect(await wait([2_000], timings())).toMatchObject({ looks: 1, reads: 1, verified: { value: 2_015 } })
  })

  test('is not repeated with each poll, and its result is discarded if it came too early', async () => {
    const waited = await wait([2_300], timings())
    expect(waited).toMatchObject({ ok: true, reads: 1 })
    expect(waited).not.toHaveProperty('verified')
  })

  test.each([
    ['is optional', undefined],
    ['does not end the wait if it fails', () => Promise.reject(refused(500))],
  ])('%s', async (_what, verify) => {
    const waited = await watch([{ status: 'finished' }], { timings: timings(), verify })
    expect(waited).toMatchObject({ ok: true, seconds: 2.015 })
    expect(waited).not.toHaveProperty('verified')
  })

  test('does not run if the expected duration is unknown', async () => {
    expect(await wait([2_000], new Timings())).toMatchObject({ ok: true, reads: 0 })
  })
})

test('one slow past operation does not delay the poll of the next operation', async () => {
  const timings = new Timings(observed({ p: past('apply_config', 60_000, ...new Array<number>(9).fill(2_000)) }))
  expect((await wait([2_000], timings)).lateMs).toBeLessThanOrEqual(200)
})

test('an operation that takes longer than expected is polled again soon, then less often', async () => {
  const timings = new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(2_000)) }))
  const slightly = await wait([2_080], timings)
  expect(slightly.looks).toBe(2)
  expect(slightly.lateMs).toBeLessThanOrEqual(100)
  expect((await wait([120_000], timings)).looks).toBeLessThan(32)
  const long = new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(20_000)) }))
  expect((await wait([15_900], long)).looks).toBe(2)
})

test('the first poll comes within 15 s, even if past operations took an hour', async () => {
  const timings = new Timings(observed({ p: past('apply_config', 3_600_000) }))
  expect((await wait([1_000], timings)).lateMs).toBeLessThanOrEqual(14_000)
})

describe('durations observed during a run', () => {
  const steady = (ms: number) => new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(ms)) }))

  test('observed durations within the range of past ones are combined with them', async () => {
    const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * 10_000)) }))
    await wait([9_900], timings)
    expect(timings.expectMs('p', ['apply_config'])).toBe(timings.expectMs('q', ['apply_config']))
    expect((await wait([10_000], timings)).lateMs).toBeLessThanOrEqual(1_000)
  })

  test('observed durations replace past ones that differ', async () => {
    const timings = steady(500)
    expect((await wait([4_000], timings)).looks).toBeGreaterThan(1)
    expect((await wait([4_000], timings)).looks).toBe(1)
  })

  test('a project without past operations uses the durations of other projects', async () => {
    const timings = new Timings(observed({ p: [], other: past('apply_config', ...new Array<number>(9).fill(2_000)) }))
    expect(await wait([2_000], timings)).toMatchObject({ looks: 1 })
  })

  test('without past operations, the second operation of a kind is polled once', async () => {
    const timings = new Timings()
    expect((await wait([2_000], timings)).looks).toBeGreaterThan(1)
    expect((await wait([2_000], timings)).looks).toBe(1)
  })

  test.each([
    [720, 'used', 920],
    [721, 'ignored', undefined],
  ])('a duration of %i ms, which this run saw as 340 ms, is %s', (totalDurationMs, _verdict, expected) => {
    const timings = new Timings()
    timings.learn('p', operation('op', { status: 'finished', totalDurationMs }), 340)
    expect(timings.expectMs('p', ['apply_config'])).toBe(expected)
  })

  test('durations are ignored if the service’s clock runs at a different speed', async () => {
    const timings = new Timings()
    await watch([{ status: 'finished', totalDurationMs: 60_000 }], { timings })
    expect(timings.expectMs('p', ['apply_config'])).toBeUndefined()
  })

  test('the duration of an operation that ended before the wait says nothing about the service’s clock', async () => {
    const timings = steady(2_000)
    await watch([], { timings, started: [operation('op-1', { status: 'finished', totalDurationMs: 2_000 })] })
    expect(timings.expectMs('p', ['apply_config'])).toBe(2_015)
  })

  test('the durations of retried and cancelled operations are ignored', () => {
    const timings = new Timings()
    timings.learn('p', operation('op', { status: 'finished', failuresCount: 1, totalDurationMs: 90_000 }))
    timings.learn('p', operation('op', { status: 'cancelled', totalDurationMs: 90_000 }))
    expect(timings.expectMs('p', ['apply_config'])).toBeUndefined()
  })
})

describe('the estimate', () => {
  const times = (count: number, ms: number): readonly number[] => new Array<number>(count).fill(ms)
  const estimate = (before: readonly number[], seen: readonly number[]): number | undefined => {
    const timings = new Timings(observed({ p: past('apply_config', ...before) }))
    for (const ms of seen) timings.learn('p', operation('op', { status: 'finished', totalDurationMs: ms }))
    return timings.expectMs('p', ['apply_config'])
  }

  test.each<readonly [string, readonly number[], readonly number[], number]>([
    ['adds 200 ms to the upper median of few durations', [1_400, 1_000, 1_200], [], 1_400],
    ['adds a tenth to a long median', [1_000, 10_000], [], 11_000],
    ['does the same for the durations of this run', [], [1_000, 10_000], 11_000],
    ['does not trust the longest of four durations', times(4, 2_000), [], 2_200],
    ['is the longest of five steady durations', times(5, 2_000), [], 2_015],
    ['uses only the 20 newest past durations', [...times(20, 2_000), ...times(30, 9_000)], [], 2_015],
    ['uses only the 20 newest durations of this run', [], [...times(30, 9_000), ...times(20, 2_000)], 2_015],
    ['prefers durations of this run to past ones', [...times(10, 2_000), ...times(10, 3_000)], times(20, 2_900), 2_915],
    ['combines a duration that is 40 ms shorter than past ones', [1_000, 1_400], [960], 1_200],
    ['replaces past durations by one that is 41 ms shorter', [1_000, 1_400], [959], 1_159],
    ['combines a duration that is 40 ms longer than past ones', [1_000, 1_400], [1_440], 1_600],
    ['replaces past durations by one that is 41 ms longer', [1_000, 1_400], [1_441], 1_641],
    ['replaces past durations if only some of the new ones are similar', [1_000, 1_400], [1_200, 5_000], 5_500],
  ])('%s', (_what, before, seen, expected) => {
    expect(estimate(before, seen)).toBeCloseTo(expected)
  })

  test('of a chain adds 10 s for each request', () => {
    const timings = new Timings(observed({ p: past('apply_config', ...times(5, 2_000)) }))
    const actions = ['apply_config']
    const frees = step('frees', { ...deleting, actions })
    const fills = step('fills', { ...creating, compute: { type: 'read_write' }, after: ['frees'], actions })
    const chainMs = chainTimes(planWith(frees, fills, step('other', { actions })), timings)
    expect(['frees', 'fills', 'other'].map((id) => chainMs(step(id)))).toEqual([24_030, 0, 0])
  })
})

describe('reads of operations', () => {
  test('report each new status and number of failures once', async () => {
    const { progress } = await watch([{}, {}, { failuresCount: 1 }, { failuresCount: 1 }, { status: 'finished' }])
    expect(progress).toEqual([
      ['running', 0],
      ['running', 1],
      ['finished', 0],
    ])
  })

  test('use one list of the newest 100 operations, and the id of each one that it does not contain', async () => {
    const { signal } = new AbortController()
    const reads: unknown[] = []
    const found = [undefined, operation('op-1'), operation('op-1', { status: 'finished' })]
    const waited = await watch([], {
      ...{ signal, started: [operation('op-1'), operation('op-2')] },
      api: {
        ...fakeApi(),
        listOperations: async (...read) => {
          reads.push(read)
          return { operations: [operation('op-3'), operation('op-2', { status: 'finished' })] }
        },
        getOperation: async (...read) => {
          reads.push(read)
          return found.shift() ?? Promise.reject(refused(500))
        },
      },
    })
    expect(waited).toMatchObject({ ok: true, operations: [{ id: 'op-1', status: 'finished' }, { id: 'op-2' }] })
    const round = [
      ['p', { limit: 100 }, { signal }],
      ['p', 'op-1', { signal }],
    ]
    expect(reads).toEqual([...round, ...round, ...round])
  })

  test.each([
    ['that fail are repeated', refused(500), true],
    ['without a valid key end the wait', refused(401), false],
    ['that the key does not allow end the wait', refused(403), false],
    ['that fail through a mistake in the program end the wait', new TypeError('no'), false],
  ])('%s', async (_what, error, isRepeated) => {
    const waited = watch([error, { status: 'finished' }], { signal: new AbortController().signal })
    if (isRepeated) expect(await waited).toMatchObject({ ok: true, seconds: 0.75 })
    else await expect(waited).rejects.toBe(error)
  })

  test('a wait that is stopped during its last read does not count as a timeout', async () => {
    const stop = new AbortController()
    const listOperations = async () => {
      stop.abort()
      throw refused(500)
    }
    const stopped = watch([], { signal: stop.signal, timeoutMs: 250, api: { ...fakeApi(), listOperations } })
    await expect(stopped).rejects.toThrow('no')
  })

  test('a wait ends right at its timeout, with the state of the operations that are still open', async () => {
    const failed = { status: 'failed', failuresCount: 1, error: 'no room.' }
    const started = [operation('op-1'), operation('op-2', { action: 'suspend_compute', ...failed })]
    expect(await watch([refused(500)], { started, timeoutMs: 20_000 })).toMatchObject({
      ...{ ok: false, reason: 'operation-timeout', seconds: 20 },
      message:
        'Still not done after 20 s: operation op-1 (apply_config, running), op-2 (suspend_compute, failed, 1 failure: no room). It may still finish: run `espalier apply` again later, or raise --timeout.',
    })
  })
})

describe('several operations, one of which fails', () => {
  const ended = async (...started: readonly Operation[]) => {
    const waited = await watch([], { started })
    return waited.ok ? 'ok' : waited.message
  }
  const config = operation('op-1', { status: 'failed', failuresCount: 3, error: ' no host v1.2\n had room.\n' })
  const once = operation('op-1', { status: 'failed', failuresCount: 1 })
  const suspend = operation('op-2', { action: 'suspend_compute', status: 'cancelled' })

  // promise: failed-before-cancelled
  test.each([
    ['is listed first', [config, suspend]],
    ['is listed last', [suspend, config]],
    ['ended with status error', [{ ...config, status: 'error' }, suspend]],
  ])('the failed operation is reported before the cancelled one when the failed one %s', async (_name, operations) => {
    expect(await ended(...operations)).toMatch(
      /^Operation op-1 \(apply_config\) (failed 3 times|ended as error): no host v1\.2 had room\. Also ended: suspend_compute op-2 \(cancelled\)\. Its change may not be in effect, /,
    )
  })

  test.each([
    ['a cancelled operation', 'op-2 (suspend_compute) ended as cancelled', suspend],
    ['an operation that failed once', 'op-1 (apply_config) failed', { ...once, updatedAt: '2025-12-31T00:00:00Z' }],
  ])('%s is reported without those that ended well', async (_what, words, bad) => {
    expect(await ended(operation('op-3', { status: 'finished' }), bad)).toBe(
      `Operation ${words}. Its change may not be in effect, even if the next plan shows no difference.`,
    )
  })
})

describe('a failed operation', () => {
  const failed = { status: 'failed', failuresCount: 3, error: 'no host had room' }

  test('a permanent failure ends the wait with its cause, long before the timeout', async () => {
    const waited = await watch([failed])
    expect(waited).toMatchObject({
      ok: false,
      reason: 'operation-failed',
      message: expect.stringContaining(
        'Operation op-1 (apply_config) failed 3 times: no host had room. Its change may not be in effect, ',
      ),
    })
    expect(waited.seconds).toBeGreaterThanOrEqual(30)
    expect(waited.seconds).toBeLessThan(40)
  })

  test('the wait continues when the service retries the operation', async () => {
    const looks = [...new Array<typeof failed>(6).fill(failed), { status: 'running' }, { status: 'finished' }]
    expect(await watch(looks)).toMatchObject({ ok: true })
  })

  test('the wait lasts until after the announced retry', async () => {
    const waited = await watch([{ ...failed, retryAt: '2026-01-01T00:02:00Z' }])
    expect(waited).toMatchObject({ ok: false, reason: 'operation-failed' })
    expect(waited.seconds).toBeGreaterThanOrEqual(150)
    expect(waited.seconds).toBeLessThan(160)
  })
})
