/** The cost of waiting: requests, and the time from an operation's end to the end of its step. */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/api/index.ts'
import { waitForOperations } from '../../src/apply/index.ts'
import { Timings } from '../../src/apply/wait/timings.ts'
import type { Observed, PastOperation } from '../../src/model/index.ts'
import { fakeApi, fakeClock, operation } from './fake-api.ts'

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

  test('durations are ignored if the service’s clock runs at a different speed', async () => {
    const timings = new Timings()
    timings.learn('p', operation('op', { status: 'finished', totalDurationMs: 700 }), 250)
    expect(timings.expectMs('p', ['apply_config'])).toBeUndefined()
  })

  test('the durations of retried and cancelled operations are ignored', () => {
    const timings = new Timings()
    timings.learn('p', operation('op', { status: 'finished', failuresCount: 1, totalDurationMs: 90_000 }))
    timings.learn('p', operation('op', { status: 'cancelled', totalDurationMs: 90_000 }))
    expect(timings.expectMs('p', ['apply_config'])).toBeUndefined()
  })
})

describe('several operations, one of which fails', () => {
  const ended = async (...operations: readonly Operation[]) => {
    const waited = await waitForOperations(operations, {
      ...{ api: fakeApi(), clock: fakeClock(), project: 'p', timeoutMs: 60_000, signal: undefined },
      onProgress: async () => undefined,
    })
    return waited.ok ? 'ok' : waited.message
  }
  const config = operation('op-1', { status: 'failed', failuresCount: 3, error: 'no host had\nroom.' })
  const suspend = operation('op-2', { action: 'suspend_compute', status: 'cancelled' })

  // promise: failed-before-cancelled
  test.each([
    ['is listed first', [config, suspend]],
    ['is listed last', [suspend, config]],
    ['ended with status error', [{ ...config, status: 'error' }, suspend]],
  ])('the failed operation is reported before the cancelled one when the failed one %s', async (_name, operations) => {
    expect(await ended(...operations)).toMatch(
      /^Operation op-1 \(apply_config\) (failed 3 times|ended as error): no host had room\. Also ended: suspend_compute op-2 \(cancelled\)\. Its change may not be in effect, /,
    )
  })

  test('a cancelled operation is reported as the cause if no operation failed', async () => {
    expect(await ended(suspend)).toBe(
      'Operation op-2 (suspend_compute) ended as cancelled. Its change may not be in effect, even if the next plan shows no difference.',
    )
  })
})

describe('a failed operation', () => {
  /** The results of successive polls. The last one is repeated. */
  const watch = async (...looks: readonly Partial<Operation>[]) => {
    const clock = fakeClock()
    const began = clock.now()
    const left = [...looks]
    const show = (): Operation => operation('op-1', left.length > 1 ? left.shift() : left[0])
    const waited = await waitForOperations([operation('op-1')], {
      api: { ...fakeApi(), listOperations: async () => ({ operations: [show()] }) },
      ...{ clock, project: 'p', timeoutMs: 600_000, signal: undefined },
      onProgress: async () => undefined,
    })
    return { ...waited, seconds: (clock.now() - began) / 1_000 }
  }
  const failed = { status: 'failed', failuresCount: 3, error: 'no host had room' }

  test('a permanent failure ends the wait with its cause, long before the timeout', async () => {
    const waited = await watch(failed)
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
    expect(await watch(...looks)).toMatchObject({ ok: true })
  })

  test('the wait lasts until after the announced retry', async () => {
    const waited = await watch({ ...failed, retryAt: '2026-01-01T00:02:00Z' })
    expect(waited).toMatchObject({ ok: false, reason: 'operation-failed' })
    expect(waited.seconds).toBeGreaterThanOrEqual(150)
    expect(waited.seconds).toBeLessThan(160)
  })
})
