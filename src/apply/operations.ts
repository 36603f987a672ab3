/** Waiting for operations: one list a round serves them all. */
import { ApiError, type Operation, OperationEnds, type ReadApi } from '../api/index.ts'
import type { Clock, FailureReason, OperationProgress } from '../model/index.ts'
import type { Timings } from './timings.ts'

/** Where nothing is known of how long it takes. */
const FIRST_ROUND_MS = 250
/** What the API suggests (the public API reference). */
const LONGEST_ROUND_MS = 5_000
/** However long such operations take, somebody is watching: the first read comes no later than this. */
const LONGEST_FIRST_MS = 15_000
/** An operation that is not done when expected is nearly done: it is read again after this share of its time. */
const LATE_SHARE = 0.05
const SHORTEST_ROUND_MS = 100
const PAGE = 100

export type WaitResult<Verified = never> =
  | {
      readonly ok: true
      readonly operations: readonly OperationProgress[]
      /** What was read together with their end; absent if the operations were read alone. */
      readonly verified?: { readonly value: Verified }
    }
  | {
      readonly ok: false
      readonly reason: FailureReason
      readonly message: string
      readonly operations: readonly OperationProgress[]
    }

export interface WaitOptions<Verified = never> {
  readonly api: ReadApi
  readonly clock: Clock
  readonly project: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** How long such operations take, so that the first read is the last one too. */
  readonly timings?: Timings
  /** What is wanted once they are over, read concurrently with the operations when these have probably ended. */
  readonly verify?: () => Promise<Verified>
  /** Called when an operation's status or failure count changes. */
  readonly onProgress: (operation: OperationProgress) => Promise<void>
}

interface Reading {
  readonly operation: Operation
  readonly end: ReturnType<OperationEnds['see']>
}

/** Resolves once every operation came to an end, one of them ended badly, or the time is over. */
export const waitForOperations = async <Verified = never>(
  started: readonly Operation[],
  options: WaitOptions<Verified>,
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
  for (;;) {
    const readings = [...latest.values()]
    const operations = readings.map(({ operation }) => operation)
    if (readings.some(({ end }) => end === 'bad')) {
      return failed(operations, 'operation-failed', endedBadly(causeOf(operations)))
    }
    const open = unfinished()
    if (open.length === 0) {
      return { ok: true, operations: operations.map(toProgress), ...(verified === undefined ? {} : { verified }) }
    }
    if (clock.now() >= deadline) return failed(operations, 'operation-timeout', timedOut(open, timeoutMs))
    await clock.sleep(Math.min(firstMs ?? round, Math.max(1, deadline - clock.now())), signal)
    const reading = firstMs === undefined ? undefined : options.verify
    if (firstMs === undefined) round = Math.min(LONGEST_ROUND_MS, round * 2)
    firstMs = undefined
    const [shown, value] = await Promise.all([readOpen(open, options), reading && readBeside(reading(), signal)])
    verified = value
    for (const operation of shown) await take(operation)
  }
}

/** When to read first, if that is known, and the first pause between the reads after it. */
const paceOf = (
  open: readonly Operation[],
  { timings, project }: Omit<WaitOptions, 'verify'>,
): { firstMs: number | undefined; round: number } => {
  const expected = timings?.expectMs(
    project,
    open.map(({ action }) => action),
  )
  if (expected === undefined) return { firstMs: undefined, round: FIRST_ROUND_MS }
  return {
    // They began before the answer arrived, and a read is answered later than it is sent: a round trip in all.
    firstMs: Math.min(LONGEST_FIRST_MS, Math.max(0, expected - (timings?.roundTripMs ?? 0))),
    round: Math.max(SHORTEST_ROUND_MS, expected * LATE_SHARE),
  }
}

/** The list may lag, and holds only the newest: what is missing is read by id. */
const readOpen = async (
  open: readonly Operation[],
  { api, clock, project, signal, timings }: Omit<WaitOptions, 'verify'>,
): Promise<readonly Operation[]> => {
  const call = signal === undefined ? {} : { signal }
  const began = clock.now()
  const page = await unlessPassing(api.listOperations(project, { limit: PAGE }, call), signal)
  if (page === undefined) return []
  timings?.sawRoundTrip(clock.now() - began)
  const listed = new Map(page.operations.map((operation) => [operation.id, operation]))
  const found = await Promise.all(
    open.map(({ id }) => listed.get(id) ?? unlessPassing(api.getOperation(project, id, call), signal)),
  )
  return found.filter((operation) => operation !== undefined)
}

const readBeside = async <T>(reading: Promise<T>, signal: AbortSignal | undefined): Promise<{ value: T } | undefined> =>
  unlessPassing(
    reading.then((value) => ({ value })),
    signal,
  )

/** A read that fails says nothing about the operation: the next round tries again, until the time is over. */
const unlessPassing = async <T>(read: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> => {
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
  options: Omit<WaitOptions, 'verify'>,
  elapsedMs: number,
): Promise<void> => {
  if (before !== undefined && before.status !== next.status) options.timings?.learn(options.project, next, elapsedMs)
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

/** What went wrong first: a follow-up is cancelled because the one before it failed. */
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
  return `Operation ${id} (${action}) ${how}${why}.${rest === '' ? '' : ` With it ended ${rest}.`} Run \`espalier plan\` to see the state of the compute.`
}

/** Without its full stop, since more of the sentence follows. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')

const timedOut = (open: readonly Operation[], timeoutMs: number): string => {
  const names = open.map(
    ({ id, action, status, failuresCount, error }) =>
      `${id} (${action}, ${status}${failuresCount > 0 ? `, ${failuresCount} ${failuresCount === 1 ? 'failure' : 'failures'}` : ''}${error === undefined ? '' : `: ${oneLine(error)}`})`,
  )
  return `Still not done after ${Math.round(timeoutMs / 1000)} s: operation ${names.join(', ')}. It may still finish: run \`espalier apply\` again to continue, or raise --operation-timeout.`
}
