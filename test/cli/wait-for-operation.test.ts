/** When `waitForOperation` considers an operation ended, and with which result. */
import { expect, test } from 'vitest'
import type { Operation } from '../../src/api/index.ts'
import { waitForOperation } from '../../src/cli/commands/operations.ts'
import { fakeClock, operation } from '../apply/fake-api.ts'

const MINUTE = 60_000

/** @param looks the operation at each read; the last one is repeated. */
const wait = async (looks: readonly ((now: number) => Partial<Operation>)[], timeoutMs = 10 * MINUTE) => {
  const clock = fakeClock()
  const begun = clock.now()
  const left = [...looks]
  const getOperation = async (): Promise<Operation> => {
    const look = left.length > 1 ? left.shift() : left[0]
    return operation('op-1', look?.(begun))
  }
  const ended = await waitForOperation({
    api: { getOperation },
    clock,
    project: 'p',
    id: 'op-1',
    deadline: begun + timeoutMs,
  })
  return { end: ended.end, status: ended.operation.status, seconds: Math.round((clock.now() - begun) / 1_000) }
}

const is = (more: Partial<Operation>) => () => more
const iso = (ms: number): string => new Date(ms).toISOString()

test.each([
  ['finished', [is({ status: 'running' }), is({ status: 'finished' })], 'good', 1],
  ['skipped', [is({ status: 'skipped' })], 'good', 0],
  ['cancelled', [is({ status: 'cancelling' }), is({ status: 'cancelled' })], 'bad', 1],
  ['ended in error', [is({ status: 'error' })], 'bad', 0],
  [
    'failed three times and not retried',
    [
      is({ status: 'failed', failuresCount: 2 }),
      is({ status: 'running', failuresCount: 2 }),
      is({ status: 'failed', failuresCount: 3 }),
    ],
    'bad',
    32,
  ],
  [
    'failed, and retried within the allowed time',
    [
      ...Array.from({ length: 20 }, () => is({ status: 'failed', failuresCount: 1 })),
      is({ status: 'running' }),
      is({ status: 'finished' }),
    ],
    'good',
    21,
  ],
  [
    'failed, with a retry announced that never comes',
    [(now: number) => ({ status: 'failed', retryAt: iso(now + MINUTE) })],
    'bad',
    90,
  ],
  [
    'failed a quarter of an hour ago',
    [(now: number) => ({ status: 'failed', updatedAt: iso(now - 15 * MINUTE) })],
    'bad',
    0,
  ],
  ['failed 20 s ago', [(now: number) => ({ status: 'failed', updatedAt: iso(now - 20_000) })], 'bad', 10],
  [
    'failed according to a clock that is an hour ahead, with a retry announced',
    [
      (now: number) => ({
        status: 'failed',
        updatedAt: iso(now + 60 * MINUTE),
        retryAt: iso(now + 61 * MINUTE),
      }),
    ],
    'bad',
    90,
  ],
  [
    'failed, with a retry announced for a time in the past',
    [(now: number) => ({ status: 'failed', retryAt: iso(now - MINUTE) })],
    'bad',
    30,
  ],
] as const)('waitForOperation detects the end of an operation: %s', async (_what, looks, end, seconds) => {
  expect(await wait(looks)).toMatchObject({ end, seconds })
})

test.each(['running', 'scheduling', 'a word of tomorrow'])(
  'waitForOperation throws E_TIMEOUT if the operation is still %s at the deadline',
  async (status) => {
    await expect(wait([is({ status })], 5_000)).rejects.toMatchObject({
      code: 'E_TIMEOUT',
      message: `The operation op-1 is still ${status}.`,
    })
  },
)
