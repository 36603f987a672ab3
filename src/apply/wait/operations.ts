/** Waits for operations. Each round reads a single list for all of them. */
import { ApiError, type Operation, OperationEnds, type ReadApi } from '../../api/index.ts'
import { type Clock, counted, defined } from '../../base/index.ts'
import type { FailureReason, OperationProgress } from '../../model/index.ts'
import { Timings } from './timings.ts'

/** The first pause between reads, if it is unknown how long the operations usually take. */
const FIRST_ROUND_MS = 250
/** The longest pause between reads, which is the interval that the public API reference suggests. */
const LONGEST_ROUND_MS = 5_000
/** The first read takes place after this time at the latest, because a user may be watching. */
const LONGEST_FIRST_MS = 15_000
/** If an operation takes longer than expected, it is read again after this fraction of its expected duration. */
const LATE_SHARE = 0.05
const SHORTEST_ROUND_MS = 100
const PAGE = 100

type WaitResult<Verified> =
  | {
      readonly ok: true
      readonly operations: readonly OperationProgress[]
      /** The project's newest operations, as last read. */
      readonly listed?: readonly Operation[]
      /** The result of `verify`, if it was read in the round in which the operations were found to have ended. */
      readonly verified?: { readonly value: Verified }
    }
  | {
      readonly ok: false
      readonly reason: FailureReason
      readonly message: string
      readonly operations: readonly OperationProgress[]
    }

interface WaitOptions {
  readonly api: ReadApi
  readonly clock: Clock
  readonly project: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** The expected durations of operations. If they are known, one read is usually enough. */
  readonly timings?: Timings
  /** What to do after a timeout. The default is for `apply`. */
  readonly afterTimeout?: string
  /** Called when an operation's status or failure count changes. */
  readonly onProgress: (operation: OperationProgress) => Promise<void>
}

interface Reading {
  readonly operation: Operation
  readonly end: ReturnType<OperationEnds['see']>
}

/**
 * Waits until every operation has ended, one of them has failed, or the timeout has passed.
 *
 * @param verify reads the effect of the operations. It is called once, together with the first read of the operations,
 *   because by then they have probably ended.
 */
export const waitForOperations = async <Verified = never>(
  started: readonly Operation[],
  options: WaitOptions,
  verify?: () => Promise<Verified>,
): Promise<WaitResult<Verified>> => {
  const { clock, signal, timeoutMs } = options
  const began = clock.now()
  const deadline = began + timeoutMs
  const ends = new OperationEnds(clock)
  const latest = new Map<string, Reading>()
  const take = async (operation: Operation): Promise<void> => {
    const before = latest.get(operation.id)?.operation
    latest.set(operation.id, { operation, end: ends.see(operation) })
    await follow(before, operation, options, clock.now() - began)
  }
  const unfinished = (): readonly Operation[] =>
    [...latest.values()].filter(({ end }) => end === undefined).map(({ operation }) => operation)
  for (const operation of started) await take(operation)
  let { firstMs, round } = paceOf(unfinished(), options)
  let verified: { readonly value: Verified } | undefined
  let listed: readonly Operation[] | undefined
  for (;;) {
    const readings = [...latest.values()]
    const operations = readings.map(({ operation }) => operation)
    if (readings.some(({ end }) => end === 'bad')) {
      return failed(operations, 'operation-failed', endedBadly(causeOf(operations)))
    }
    const open = unfinished()
    if (open.length === 0) {
      return defined({ ok: true, operations: operations.map(toProgress), listed, verified } as const)
    }
    if (clock.now() >= deadline) return failed(operations, 'operation-timeout', timedOut(open, options))
    await clock.sleep(Math.min(firstMs ?? round, Math.max(1, deadline - clock.now())), signal)
    const isFirst = firstMs !== undefined
    if (!isFirst) round = Math.min(LONGEST_ROUND_MS, round * 2)
    firstMs = undefined
    const reading = isFirst && verify !== undefined ? verify().then((value) => ({ value })) : undefined
    const [shown, read] = await Promise.all([readOpen(open, options), reading && unlessTransient(reading, signal)])
    verified = read
    listed = shown?.listed
    for (const operation of shown?.found ?? []) await take(operation)
  }
}

/** When to read for the first time, if durations are known, and how long to wait between reads after that. */
const paceOf = (
  open: readonly Operation[],
  { timings = new Timings(), project }: WaitOptions,
): { firstMs: number | undefined; round: number } => {
  const actions = open.map(({ action }) => action)
  const expected = timings.expectMs(project, actions)
  if (expected === undefined) return { firstMs: undefined, round: FIRST_ROUND_MS }
  return {
    // The operations started before the response arrived, and a read takes time to arrive too: one round trip in total.
    firstMs: Math.min(LONGEST_FIRST_MS, Math.max(0, expected - timings.roundTripMs)),
    round: Math.min(LONGEST_ROUND_MS, Math.max(SHORTEST_ROUND_MS, expected * LATE_SHARE)),
  }
}

/**
 * Reads the open operations. The list may be stale and contains only the newest operations, so those that are missing
 * from it are read by id.
 */
const readOpen = async (
  open: readonly Operation[],
  { api, clock, project, signal, timings }: WaitOptions,
): Promise<{ readonly listed: readonly Operation[]; readonly found: readonly Operation[] } | undefined> => {
  const began = clock.now()
  const page = await unlessTransient(api.listOperations(project, { limit: PAGE }, { signal }), signal)
  if (page === undefined) return undefined
  timings?.sawRoundTrip(clock.now() - began)
  const listed = new Map(page.operations.map((operation) => [operation.id, operation]))
  const found = await Promise.all(
    open.map(({ id }) => listed.get(id) ?? unlessTransient(api.getOperation(project, id, { signal }), signal)),
  )
  return { listed: page.operations, found: found.filter((operation) => operation !== undefined) }
}

/** Ignores a failed read, because it says nothing about the operation. The next round reads again. */
const unlessTransient = async <T>(read: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> => {
  try {
    return await read
  } catch (error) {
    if (!(error instanceof ApiError) || signal?.aborted === true) throw error
    if (error.status === 401 || error.status === 403) throw error
    return undefined
  }
}

const follow = async (
  before: Operation | undefined,
  next: Operation,
  options: WaitOptions,
  elapsedMs: number,
): Promise<void> => {
  if (before !== undefined) options.timings?.learn(options.project, next, elapsedMs)
  if (before?.status !== next.status || before.failuresCount !== next.failuresCount) {
    await options.onProgress(toProgress(next))
  }
}

export const toProgress = ({ id, action, status, failuresCount }: Operation): OperationProgress => ({
  id,
  action,
  status,
  failuresCount,
})

const failed = (operations: readonly Operation[], reason: FailureReason, message: string): WaitResult<never> => ({
  ok: false,
  reason,
  message,
  operations: operations.map(toProgress),
})

/**
 * The statuses in the order in which they are reported. If an operation fails, later ones are cancelled, so the failure
 * comes first.
 */
const CAUSES = ['error', 'failed', 'cancelling', 'cancelled']

const causeOf = (operations: readonly Operation[]): readonly Operation[] => {
  const bad = operations.filter(({ status }) => CAUSES.includes(status))
  return bad.toSorted((a, b) => CAUSES.indexOf(a.status) - CAUSES.indexOf(b.status))
}

const endedBadly = ([cause, ...others]: readonly Operation[]): string => {
  if (cause === undefined) return ''
  const { id, action, status, failuresCount, error } = cause
  const why = error === undefined ? '' : `: ${oneLine(error)}`
  const rest = others.map((one) => `${one.action} ${one.id} (${one.status})`).join(', ')
  const how = status === 'failed' ? `failed${failuresCount > 1 ? ` ${failuresCount} times` : ''}` : `ended as ${status}`
  return `Operation ${id} (${action}) ${how}${why}.${rest === '' ? '' : ` Also ended: ${rest}.`} Its change may not be in effect, even if the next plan shows no difference.`
}

/** The text on one line and without its full stop, for use inside a sentence. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')

const timedOut = (open: readonly Operation[], { timeoutMs, afterTimeout = APPLY_AGAIN }: WaitOptions): string => {
  const names = open.map(
    ({ id, action, status, failuresCount, error }) =>
      `${id} (${action}, ${status}${failuresCount > 0 ? `, ${counted(failuresCount, 'failure')}` : ''}${error === undefined ? '' : `: ${oneLine(error)}`})`,
  )
  return `Still not done after ${Math.round(timeoutMs / 1000)} s: operation ${names.join(', ')}. ${afterTimeout}`
}

const APPLY_AGAIN = 'It may still finish: run `espalier apply` again later, or raise --timeout.'
