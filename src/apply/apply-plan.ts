/** Runs a plan wave by wave. Projects run concurrently, and within a project one step runs at a time. */
import { setMaxListeners } from 'node:events'
import type { WriteApi } from '../api/index.ts'
import { type Clock, DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_MS, dateOf, groupBy, mapConcurrently } from '../base/index.ts'
import {
  type ApplyEvent,
  isUnpredicted,
  type Observed,
  type Outcome,
  type Plan,
  type Step,
  type StepOutcome,
  stepTitle,
} from '../model/index.ts'
import { converge, type Replan } from './after/converge.ts'
import { lossNotes, overrideNotes, pinNotes, successors, unpredictedNotes, windowNotes } from './after/notes.ts'
import { ExpectedState } from './before/expected-state.ts'
import { closedFor, openingsOf, scheduledStep } from './before/restart-windows.ts'
import { type Consents, notStarted, type RunContext, type UntimedEvent } from './context.ts'
import { type LostPrimaries, lostPrimariesOf } from './lost-primaries.ts'
import { runStep } from './send/run-step.ts'
import { chainTimes, Timings } from './wait/timings.ts'
import { unsettledFinder, type Wave, waveBlockedBy, wavesOf } from './waves.ts'

export interface ApplyOptions {
  readonly plan: Plan
  readonly api: WriteApi
  readonly consent: Consents
  readonly clock: Clock
  /** The snapshot that the plan was made from. A step is sent only if the state that it relies on is unchanged. */
  readonly observed: Observed
  /** Whether to run steps even outside their restart windows. An event records each step that did. */
  readonly ignoreWindows?: boolean
  /** How many projects are processed concurrently. The default is 16. */
  readonly concurrency?: number | undefined
  /**
   * If more steps than this have failed, no other step starts, except to give a branch its primary back. By default,
   * there is no limit.
   */
  readonly maxFailures?: number | undefined
  /** How long to wait for the operations of a step, in milliseconds. The default is ten minutes. */
  readonly operationTimeoutMs?: number | undefined
  /** Once this is aborted, running steps complete, and new steps start only to give a branch its primary back. */
  readonly stop?: AbortSignal
  /** Once this is aborted, everything stops immediately. */
  readonly abort?: AbortSignal
  /** Receives each event. Awaited before the call that the event announces. If it rejects, no new step starts. */
  readonly onEvent?: (event: ApplyEvent) => void | Promise<void>
  /** Plans again once all steps are done, to check whether the project has converged. */
  readonly replan?: Replan
}

/** @returns the outcome of every step. Failures of the API are outcomes, not exceptions. */
export const applyPlan = async (options: ApplyOptions): Promise<Outcome> => {
  const { plan, clock, onEvent, observed, ignoreWindows = false } = options
  // Every pending request adds a listener to these signals, and Node would otherwise warn that they leak.
  for (const signal of [options.stop, options.abort]) if (signal !== undefined) setMaxListeners(0, signal)
  const recorder = new Recorder(clock, onEvent)
  const outcomes = new Map<string, StepOutcome>()
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const stepsOf = (kind: Step['kind']): ReadonlyMap<string, Step> =>
    new Map(plan.steps.filter((step) => step.kind === kind).map((step) => [step.change, step]))
  const [creates, deletes] = [stepsOf('create'), stepsOf('delete')]
  const timings = new Timings(observed)
  const openingOf = openingsOf(clock, chainTimes(plan, timings))
  const primaries = lostPrimariesOf(plan)
  const context: RunContext = {
    api: options.api,
    clock,
    operationTimeoutMs: options.operationTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    consent: options.consent,
    expected: new ExpectedState(observed),
    timings,
    abort: options.abort,
    successorOf: (step) => creates.get(step.change),
    predecessorOf: (step) => deletes.get(step.change),
    // With `ignoreWindows`, such a step runs in any case, but it is recorded if its window is closed.
    openingOf: (step) => (!ignoreWindows && primaries.restores(step, outcomes) ? { isOpen: true } : openingOf(step)),
    ignoreWindows,
    emit: (event) => recorder.emit(event),
    record: (event) => recorder.record(event),
  }
  const isCutOff = (): boolean => options.abort?.aborted === true || recorder.broken !== undefined
  const isHalted = (): boolean => options.stop?.aborted === true || isCutOff()

  let failed = 0
  const settle = async (step: Step, outcome: StepOutcome): Promise<void> => {
    outcomes.set(step.id, outcome)
    if (outcome.status === 'failed') failed += 1
    const { observation } = outcome
    if (observation !== undefined && isUnpredicted(observation))
      await recorder.record({ type: 'unpredicted', step: step.id, observation })
    await recorder.record({ type: 'step-end', outcome })
  }
  const outcomeIfBlocked = (step: Step): StepOutcome | undefined => {
    const isNeeded = !isCutOff() && primaries.restores(step, outcomes)
    if (isHalted() && !isNeeded) return interrupted(step, recorder.broken)
    const { maxFailures = Number.POSITIVE_INFINITY } = options
    if (failed > maxFailures && !isNeeded) return tooManyFailures(step, failed, maxFailures)
    return (
      notConsented(step, options.consent, primaries) ?? blockedBy(step, steps, outcomes) ?? outsideWindow(step, context)
    )
  }
  const runWave = async (wave: Wave): Promise<void> => {
    const queues = [...groupBy(wave.steps, ({ project }) => project).values()]
    await mapConcurrently(queues, options.concurrency ?? DEFAULT_CONCURRENCY, async (queue) => {
      for (const step of queue) await settle(step, outcomeIfBlocked(step) ?? (await perform(step, context, recorder)))
    })
  }
  const unsettled = unsettledFinder(plan, observed, context, outcomes)
  for (const wave of wavesOf(plan)) {
    const blocked = isHalted() ? undefined : await waveBlockedBy(plan, wave, outcomes, unsettled)
    if (blocked === undefined) await runWave(wave)
    else for (const step of wave.steps) await settle(step, blocked(step))
  }

  const ended = plan.steps.flatMap(({ id }) => outcomes.get(id) ?? [])
  // If every step is done, the Ctrl-C came too late to interrupt anything.
  const isStopped = options.stop?.aborted === true && ended.some(({ status }) => status !== 'done')
  const isInterrupted = isStopped || options.abort?.aborted === true
  const aliases = successors(plan, outcomes)
  const convergence =
    isInterrupted || options.replan === undefined ? {} : await converge(plan, ended, aliases, options.replan, context)
  const outcome: Outcome = {
    steps: ended,
    interrupted: isInterrupted,
    ...convergence,
    notes: [
      ...overrideNotes(plan),
      ...unpredictedNotes(plan, outcomes),
      ...lossNotes(plan, primaries, outcomes),
      ...pinNotes(plan, outcomes, aliases),
      ...windowNotes(plan, recorder.overridden),
      ...(recorder.broken === undefined ? [] : [recorder.broken]),
    ],
  }
  await recorder.record({ type: 'outcome', outcome })
  return outcome
}

const perform = async (step: Step, context: RunContext, recorder: Recorder): Promise<StepOutcome> => {
  try {
    await recorder.emit({ type: 'step-start', step })
    return await runStep(step, context)
  } catch (error) {
    // The only expected error is that an event could not be recorded, in which case the step must not run.
    if (recorder.broken === undefined) throw error
    return interrupted(step, recorder.broken)
  }
}

/** The outcome of a step that has to wait for its restart window. */
const outsideWindow = (step: Step, { openingOf, ignoreWindows }: RunContext): StepOutcome | undefined => {
  const closed = ignoreWindows ? undefined : closedFor(step, openingOf)
  return closed && scheduledStep(step, closed)
}

/** The outcome of a step that is not allowed. A refused step does not run, even with every consent. */
const notConsented = (step: Step, { allow }: Consents, { following }: LostPrimaries): StepOutcome | undefined => {
  if (step.refused !== undefined) return notStarted(step, 'not-allowed', 'refused', `Refused: ${step.refused}.`)
  const missing = step.consents.filter((consent) => !allow.has(consent))
  if (missing.length === 0) return undefined
  const next = following(step)
  const isNextMissing = next?.consents.some((consent) => missing.includes(consent)) === true
  const together = isNextMissing ? ` It runs only together with ${stepTitle(next, new Map())}.` : ''
  const message = `Not allowed without --allow ${missing.join(',')}.${together}`
  return notStarted(step, 'not-allowed', 'not-consented', message)
}

/** The outcome of a step that needs another step which was not done. */
const blockedBy = (
  step: Step,
  steps: ReadonlyMap<string, Step>,
  outcomes: ReadonlyMap<string, StepOutcome>,
): StepOutcome | undefined => {
  const statusOf = (id: string) => outcomes.get(id)?.status
  const undone = step.after.filter((id) => statusOf(id) !== 'done')
  // A step that was not sent does not block a step that only comes after it and does not depend on it.
  const blocking = undone.filter((id) => {
    const wasNotSent = statusOf(id) === 'scheduled' || statusOf(id) === 'stale'
    return !wasNotSent || step.inTurnAfter?.includes(id) !== true
  })
  const [first] = blocking
  if (first === undefined) return undefined
  const titleOf = (id: string): string => {
    const known = steps.get(id)
    return known === undefined ? id : stepTitle(known, new Map())
  }
  const missing = blocking.find((id) => statusOf(id) !== 'scheduled')
  return missing === undefined
    ? notStarted(
        step,
        'scheduled',
        'outside-window',
        `It comes after a step that is waiting for its restart window: ${titleOf(first)}.`,
      )
    : notStarted(step, 'skipped', 'depends-on-failed', `It depends on a step that was not done: ${titleOf(missing)}.`)
}

const interrupted = (step: Step, why = 'Interrupted before it started: run `espalier apply` again.'): StepOutcome =>
  notStarted(step, 'skipped', 'interrupted', why)

const tooManyFailures = (step: Step, failed: number, most: number): StepOutcome => {
  const subject = failed === 1 ? '1 step has' : `${failed} steps have`
  const message = `Not started: ${subject} failed, and --max-failures is ${most}.`
  return notStarted(step, 'skipped', 'too-many-failures', message)
}

/** Adds the time to events and passes them on. If passing one on fails, no further step runs. */
class Recorder {
  readonly #clock: Clock
  readonly #onEvent: ApplyOptions['onEvent']
  /** Why an event could not be recorded. */
  broken: string | undefined
  /** The ids of the steps that were sent outside their windows. */
  readonly overridden = new Set<string>()

  constructor(clock: Clock, onEvent: ApplyOptions['onEvent']) {
    this.#clock = clock
    this.#onEvent = onEvent
  }

  /** Records an event. @throws if that fails, so that the call that the event announces is not made. */
  async emit(event: UntimedEvent): Promise<void> {
    if (event.type === 'window-overridden') this.overridden.add(event.step)
    try {
      await this.#onEvent?.({
        time: new Date(dateOf(this.#clock)).toISOString(),
        ...event,
      } as ApplyEvent)
    } catch (error) {
      this.broken ??= error instanceof Error ? error.message : String(error)
      throw error
    }
  }

  /** Records an event that has already happened. If that fails, it only prevents later steps. */
  async record(event: UntimedEvent): Promise<void> {
    await this.emit(event).catch(() => undefined)
  }
}
