/** What waiting costs, counted: requests, and how long a step goes on after its operation is over. */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/api/index.ts'
import { waitForOperations } from '../../src/apply/index.ts'
import { Timings } from '../../src/apply/timings.ts'
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

/** Operations run one after the other, each for its time. */
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

describe('an operation that takes as long as the project’s past ones of the same action', () => {
  test.each([100, 700, 2_000, 10_000])('of %i ms is polled once', async (ms) => {
    const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * ms)) }))
    expect(await wait([ms], timings)).toMatchObject({ ok: true, looks: 1 })
  })

  test('of 2 s is seen to be over within 0.2 s', async () => {
    const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * 2_000)) }))
    expect((await wait([2_000], timings)).lateMs).toBeLessThanOrEqual(200)
  })

  test('and is one of a chain: the lock runs them one after the other, and one poll serves both', async () => {
    const timings = new Timings(observed({ p: [...past('apply_config', 2_000), ...past('suspend_compute', 500)] }))
    expect(await wait([2_000, 500], timings, ['apply_config', 'suspend_compute'])).toMatchObject({ looks: 1 })
  })
})

test('a poll takes a while, so it is sent that much earlier', async () => {
  const timings = new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(2_000)) }))
  timings.sawRoundTrip(300)
  timings.sawRoundTrip(50)
  const { looks, lateMs } = await wait([2_000], timings, [], 50)
  expect(looks).toBe(1)
  expect(lateMs).toBeLessThanOrEqual(40)
})

describe('reads after they have ended', () => {
  const timings = () => new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(2_000)) }))

  test('is read concurrently with the poll that sees it end', async () => {
    expect(await wait([2_000], timings())).toMatchObject({ looks: 1, reads: 1, verified: { value: 2_040 } })
  })

  test('is not taken from a poll that came too early, nor read repeatedly', async () => {
    const waited = await wait([2_300], timings())
    expect(waited).toMatchObject({ ok: true, reads: 1 })
    expect(waited).not.toHaveProperty('beside')
  })

  test('is not read if the time is unknown', async () => {
    expect(await wait([2_000], new Timings())).toMatchObject({ ok: true, reads: 0 })
  })
})

test('one slow operation in the past does not keep all others waiting', async () => {
  const timings = new Timings(observed({ p: past('apply_config', 60_000, ...new Array<number>(9).fill(2_000)) }))
  expect((await wait([2_000], timings)).lateMs).toBeLessThanOrEqual(200)
})

test('one that takes longer than expected is polled again soon, then less and less often', async () => {
  const timings = new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(2_000)) }))
  const slightly = await wait([2_080], timings)
  expect(slightly.looks).toBe(2)
  expect(slightly.lateMs).toBeLessThanOrEqual(100)
  expect((await wait([120_000], timings)).looks).toBeLessThan(32)
})

test('a wait is never silent for an hour, however long past operations took', async () => {
  const timings = new Timings(observed({ p: past('apply_config', 3_600_000) }))
  expect((await wait([1_000], timings)).lateMs).toBeLessThanOrEqual(14_000)
})

describe('what a run learns', () => {
  const steady = (ms: number) => new Timings(observed({ p: past('apply_config', ...new Array<number>(9).fill(ms)) }))

  test('observed durations that fit the past are added to it', async () => {
    const timings = new Timings(observed({ p: past('apply_config', ...STEADY.map((share) => share * 10_000)) }))
    await wait([9_900], timings)
    expect(timings.expectMs('p', ['apply_config'])).toBe(timings.expectMs('q', ['apply_config']))
    expect((await wait([10_000], timings)).lateMs).toBeLessThanOrEqual(1_000)
  })

  test('observed durations count more than past ones', async () => {
    const timings = steady(500)
    expect((await wait([4_000], timings)).looks).toBeGreaterThan(1)
    expect((await wait([4_000], timings)).looks).toBe(1)
  })

  test('a project without a past is taken for one like the others', async () => {
    const timings = new Timings(observed({ p: [], other: past('apply_config', ...new Array<number>(9).fill(2_000)) }))
    expect(await wait([2_000], timings)).toMatchObject({ looks: 1 })
  })

  test('without any past the first step of a kind is found by trying, the second is known', async () => {
    const timings = new Timings()
    expect((await wait([2_000], timings)).looks).toBeGreaterThan(1)
    expect((await wait([2_000], timings)).looks).toBe(1)
  })

  test('durations that the service reports with another clock are ignored', async () => {
    const timings = new Timings()
    timings.learn('p', operation('op', { status: 'finished', totalDurationMs: 700 }), 250)
    expect(timings.expectMs('p', ['apply_config'])).toBeUndefined()
  })

  test('an operation that had to be tried again says nothing of the next one', () => {
    const timings = new Timings()
    timings.learn('p', operation('op', { status: 'finished', failuresCount: 1, totalDurationMs: 90_000 }))
    timings.learn('p', operation('op', { status: 'cancelled', totalDurationMs: 90_000 }))
    expect(timings.expectMs('p', ['apply_config'])).toBeUndefined()
  })
})

describe('an operation that ends badly', () => {
  const ended = async (...operations: readonly Operation[]) => {
    const waited = await waitForOperations(operations, {
      ...{ api: fakeApi(), clock: fakeClock(), project: 'p', timeoutMs: 60_000, signal: undefined },
      onProgress: async () => undefined,
    })
    return waited.ok ? 'ok' : waited.message
  }
  const config = operation('op-1', { status: 'failed', failuresCount: 3, error: 'no host had\nroom.' })
  const suspend = operation('op-2', { action: 'suspend_compute', status: 'cancelled' })

  test.each([
    ['failed', [config, suspend]],
    ['listed the other way round', [suspend, config]],
    ['ended as error', [{ ...config, status: 'error' }, suspend]],
  ])('the cause is reported with its error, not what was cancelled after it: %s', async (_name, operations) => {
    expect(await ended(...operations)).toMatch(
      /^Operation op-1 \(apply_config\) (failed 3 times|ended as error): no host had room\. Also ended: suspend_compute op-2 \(cancelled\)\. Run /,
    )
  })

  test('cancelled alone, it is the cause', async () => {
    expect(await ended(suspend)).toBe(
      'Operation op-2 (suspend_compute) ended as cancelled. Run `espalier plan` to see the state of the compute.',
    )
  })
})

describe('an operation that failed', () => {
  /** What each look shows, the last one again and again. */
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

  test('for good fails the step with its cause, long before the time is over', async () => {
    const waited = await watch(failed)
    expect(waited).toMatchObject({
      ok: false,
      reason: 'operation-failed',
      message: expect.stringContaining('Operation op-1 (apply_config) failed 3 times: no host had room. Run '),
    })
    expect(waited.seconds).toBeGreaterThanOrEqual(30)
    expect(waited.seconds).toBeLessThan(40)
  })

  test('and is retried continues', async () => {
    const looks = [...new Array<typeof failed>(6).fill(failed), { status: 'running' }, { status: 'finished' }]
    expect(await watch(...looks)).toMatchObject({ ok: true })
  })

  test('is given the time until the retry that is announced', async () => {
    const waited = await watch({ ...failed, retryAt: '2026-01-01T00:02:00Z' })
    expect(waited).toMatchObject({ ok: false, reason: 'operation-failed' })
    expect(waited.seconds).toBeGreaterThanOrEqual(150)
    expect(waited.seconds).toBeLessThan(160)
  })
})
