/** Which compute and which operations belong to an accepted request. */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/api/index.ts'
import { ExpectedState } from '../../src/apply/before/expected-state.ts'
import type { RunContext } from '../../src/apply/context.ts'
import type { Sent } from '../../src/apply/send/send-step.ts'
import { startedBy } from '../../src/apply/wait/started-operations.ts'
import type { ObservedCompute, Step, StepRequest } from '../../src/model/index.ts'
import { compute, fakeApi, fakeClock, operation } from './fake-api.ts'
import { creating, deleting, observedOf, step } from './small-plans.ts'

const SENT_AT = Date.UTC(2026, 0, 1)
const REPLICA = compute('ep-new', { type: 'read_only', attributes: { name: 'r' } })
const own = (id: string, more: Partial<Operation> = {}): Operation => operation(id, { endpointId: 'ep-1', ...more })
const requesting = (endpoint: NonNullable<StepRequest['body']>['endpoint'], more: Partial<Step> = {}): Step =>
  step('s', { ...more, request: { ...step('s').request, body: { endpoint } } })

/** What successive rounds of reads show. The last round is repeated. */
interface Round {
  readonly computes?: readonly ObservedCompute[]
  readonly operations?: readonly Operation[]
}

const find = async (one: Step, sent: Parameters<typeof startedBy>[1], ...rounds: readonly Round[]) => {
  const { signal } = new AbortController()
  const clock = fakeClock()
  const expected = new ExpectedState(observedOf([compute('ep-1')]))
  expected.started([own('op-earlier')])
  const reads: string[] = []
  const waits: unknown[] = []
  const shown = (name: string, call: { readonly signal?: AbortSignal | undefined } = {}): Required<Round> => {
    expect(call.signal).toBe(signal)
    reads.push(name)
    return { computes: [], operations: [], ...rounds[Math.min(clock.slept.length, rounds.length - 1)] }
  }
  const context: Pick<RunContext, 'api' | 'clock' | 'expected' | 'abort' | 'record'> = {
    api: {
      ...fakeApi(),
      getCompute: async (_project, id, call) => shown('compute', call).computes.find((live) => live.id === id),
      listComputes: async (_project, call) => shown('computes', call).computes,
      listOperations: async (_project, { limit = 1 } = {}, call) => ({
        operations: shown('operations', call).operations.slice(0, limit),
      }),
    },
    ...{ clock, expected, abort: signal, record: async (event) => void waits.push(event) },
  }
  const { computeId, operations } = await startedBy(one, sent, context as RunContext)
  return { found: [computeId, ...operations.map(({ id }) => id)], reads, waits, slept: clock.slept }
}

const answered = (operations: readonly Operation[], live?: ObservedCompute): Extract<Sent, { kind: 'answered' }> => ({
  ...{ kind: 'answered', at: SENT_AT },
  mutation: { operations, ...(live && { compute: live }) },
})

describe('a response', () => {
  const created = [operation('op-1'), operation('op-2', { endpointId: 'ep-new' })]

  test.each([
    ['the compute and operations', step('s'), answered([own('op-1')], compute('ep-1')), ['ep-1', 'op-1']],
    ['only the compute, because nothing was started', step('s'), answered([], compute('ep-1')), ['ep-1']],
    ['only operations', step('s'), answered([own('op-1')]), ['ep-1', 'op-1']],
    ['a created compute', step('s', creating), answered([], REPLICA), ['ep-new']],
    ['a created compute only in an operation', step('s', creating), answered(created), ['ep-new', 'op-1', 'op-2']],
    ['nothing about a deletion', step('s', deleting), answered([]), ['ep-1']],
  ])('is enough if it names %s', async (_what, one, sent, found) => {
    expect(await find(one, sent)).toMatchObject({ found, reads: [] })
  })

  test('to an update that names nothing is completed by reads', async () => {
    const round = { computes: [compute('ep-1')], operations: [operation('op-0'), own('op-1')] }
    const { found, reads } = await find(step('s'), answered([]), round)
    expect(found).toEqual(['ep-1', 'op-1'])
    expect(reads).toEqual(['compute', 'operations'])
  })

  const other = operation('op-other', { endpointId: 'ep-other' })
  const late = operation('op-new', { endpointId: 'ep-new', createdAt: '2026-01-01T00:00:01Z', status: 'finished' })
  test.each<readonly [string, readonly Operation[], readonly Round[], readonly unknown[], readonly number[]]>([
    ['shown at once', [], [{ computes: [REPLICA], operations: [late] }], ['ep-new', 'op-new'], []],
    [
      'shown late, beside an operation of another compute',
      [],
      [{ operations: [other] }, { operations: [other] }, { computes: [REPLICA], operations: [other, late] }],
      ['ep-new', 'op-new'],
      [1_000, 2_000],
    ],
    [
      'named by no operation',
      [operation('op-1')],
      [{ computes: [REPLICA], operations: [late] }],
      ['ep-new', 'op-1'],
      [],
    ],
    ['never shown', [], [{ operations: [other] }], [undefined], [1_000, 2_000, 4_000, 8_000, 15_000]],
  ])('to a create that does not name the compute: it is %s', async (_what, operations, rounds, found, delays) => {
    const waits = delays.map((delayMs) => ({
      ...{ type: 'wait', step: 's', why: 'reading-back', delayMs },
      message: 'looking for the created compute, because the response does not name it',
    }))
    expect(await find(step('s', creating), answered(operations), ...rounds)).toMatchObject({
      found,
      waits,
      slept: delays,
    })
  })
})

describe('the operations of a change whose response was lost', () => {
  const found = (lostAt?: number): Sent & { kind: 'found' } => ({
    ...{ kind: 'found', compute: compute('ep-1') },
    ...(lostAt !== undefined && { lostAt }),
  })
  const ended = (createdAt: string): Operation => own('op-1', { status: 'finished', createdAt })

  test.each<readonly [string, 'included' | 'left out', Operation, number | undefined]>([
    ['is open, even if another client made the change', 'included', own('op-1'), undefined],
    ['has ended, and began up to 5 s before the request', 'included', ended('2025-12-31T23:59:55Z'), SENT_AT],
    ['ended long before the request', 'left out', ended('2025-12-31T23:59:54Z'), SENT_AT],
    ['has ended, if another client made the change', 'left out', ended('2026-01-01T00:00:00Z'), undefined],
    ['belongs to another compute', 'left out', operation('op-1', { endpointId: 'ep-2' }), SENT_AT],
    ['belongs to an earlier step', 'left out', own('op-earlier'), SENT_AT],
  ])('an operation that %s is %s', async (_what, verdict, one, lostAt) => {
    const round = { operations: [operation('op-0'), one], computes: [compute('ep-1')] }
    const started = await find(step('s'), found(lostAt), round)
    expect(started.found).toEqual(verdict === 'included' ? ['ep-1', 'op-1'] : ['ep-1'])
  })

  test.each<readonly [string, 'for half a minute' | 'once', Step, number | undefined]>([
    ['a size', 'for half a minute', step('s'), SENT_AT],
    ['a size that another client changed', 'once', step('s'), undefined],
    ['a name and a branch', 'once', requesting({ name: 'new', branch_id: 'br-dev' }), SENT_AT],
    ['a create', 'for half a minute', requesting({ name: 'new' }, { kind: 'create' }), SENT_AT],
    ['a create of a disabled compute', 'once', requesting({ disabled: true }, { kind: 'create' }), SENT_AT],
  ])('of %s are looked for %s', async (_what, howLong, one, lostAt) => {
    // The list shows the operation only after the last pause.
    const rounds = [{}, {}, {}, {}, {}, { operations: [own('op-1')] }]
    expect(await find(one, found(lostAt), ...rounds)).toMatchObject(
      howLong === 'once'
        ? { found: ['ep-1'], slept: [] }
        : { found: ['ep-1', 'op-1'], slept: [1_000, 2_000, 4_000, 8_000, 15_000] },
    )
  })

  test.each([
    ['pending', [compute('ep-1', { pendingState: 'active' })], 5],
    ['no longer pending', [compute('ep-1')], 1],
    ['deleted', [], 1],
  ])('are looked for again until the compute is %s', async (_what, computes, pauses) => {
    const pending = compute('ep-1', { pendingState: 'active' })
    const started = await find(step('s'), { kind: 'found', compute: pending }, { computes: [pending] }, { computes })
    expect(started.found).toEqual(['ep-1'])
    expect(started.slept).toHaveLength(pauses)
  })
})
