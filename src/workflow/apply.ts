/** Applies a plan, for the CLI, the Action and the public API. Makes every check, so that no caller can skip one. */
import type { OnReading, WriteApi } from '../api/index.ts'
import {
  applyPlan,
  type Consents,
  isAnyDue,
  isSamePlan,
  openJournal,
  overriddenOf,
  type Replan,
} from '../apply/index.ts'
import { abortWith, type Clock, dateOf, defined, EspalierError, EXIT, type OnSignal } from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import {
  type ApplyEvent,
  CONSENTS,
  type Consent,
  type Diagnostic,
  hasErrors,
  leftOutIds,
  type Outcome,
  PLAN_FORMAT_VERSION,
  type Plan,
} from '../model/index.ts'
import { type OpenClient, withClient } from './connect.ts'
import { type Manifests, withoutProjects } from './manifests.ts'
import { type Planned, planLive } from './plan.ts'
import { checkSavedPlan, type SavedPlan } from './saved-plan.ts'
import { select } from './selection.ts'

export interface ApplyRequest {
  readonly manifests: Manifests
  /** Opens the client. Called once the manifests are known to be valid. */
  readonly open: () => Promise<OpenClient<WriteApi>>
  readonly clock: Clock
  /** A saved plan, which is applied exactly as saved or not at all. */
  readonly saved?: SavedPlan | undefined
  /** The folder to run git in, if the saved plan's selection has a ref. The default is the current folder. */
  readonly cwd?: string | undefined
  /** A new plan, which is applied unchanged. The caller has to check whether the projects have converged. */
  readonly planned?: Planned | undefined
  /** What may run. A function can ask the user about the plan, and returns `undefined` if the user declines. */
  readonly consent: Consents | ((plan: Plan) => Promise<Consents | undefined>)
  readonly ignoreWindows?: boolean | undefined
  /** If more steps than this have failed, no other step starts. */
  readonly maxFailures?: number | undefined
  /** How many projects are processed concurrently. The default is 16. */
  readonly concurrency?: number | undefined
  /** How long to wait for the operations of a step. The default is ten minutes. */
  readonly operationTimeoutMs?: number | undefined
  /** The file to which each event is written, before the call that it announces is made. */
  readonly journal?: string | undefined
  /** Intercepts Ctrl-C and SIGTERM while steps run. By default, Node handles them. */
  readonly onSignal?: OnSignal | undefined
  /** Once this is aborted, running steps complete, and new steps start only to give a branch its primary back. */
  readonly signal?: AbortSignal | undefined
  /** Receives messages for the user while steps run, for example that the run is stopping. */
  readonly notify?: (message: string) => void
  /** Receives the progress of reading the projects, before a plan is shown. */
  readonly onReading?: OnReading | undefined
  /** Called with each plan before the user is asked. `again` is set if the project has changed since the last plan. */
  readonly onPlan?: (planned: PlannedApply, again: boolean) => void | Promise<void>
  /** Called once all checks have passed. The returned watcher receives the events. */
  readonly watch?: (planned: PlannedApply) => Watcher
}

export interface Watcher {
  /** Awaited before the call that the event announces. If it rejects, no new step starts. */
  event(event: ApplyEvent): void | Promise<void>
  /** Called at the end of a run, however it ends, while signals are still intercepted. */
  end(outcome: Outcome | undefined): Promise<void>
}

export interface PlannedApply extends Planned {
  /** The plan to apply. */
  readonly plan: Plan
  /** Why some projects cannot be planned. */
  readonly problems: readonly Diagnostic[]
}

export type Applied =
  /** The manifests have errors, so no request was sent. */
  | { readonly kind: 'invalid'; readonly diagnostics: readonly Diagnostic[] }
  /** No project can be planned. If only some cannot be, the others are applied, and the plan names those left out. */
  | { readonly kind: 'unplannable'; readonly diagnostics: readonly Diagnostic[]; readonly plan: Plan }
  | { readonly kind: 'declined' }
  | { readonly kind: 'ended'; readonly plan: Plan; readonly outcome: Outcome }

/** How often the user is asked at most, if the project keeps changing before the user answers. */
const MOST_QUESTIONS = 3

/**
 * @throws {EspalierError} `E_STALE` for a saved plan that must not run, `E_STALE` if the project
 *   changed each time that the user was asked, `E_OUT`, and errors from the control API.
 */
export const apply = async (request: ApplyRequest): Promise<Applied> => {
  const { diagnostics } = request.manifests.loaded
  if (hasErrors(diagnostics)) return { kind: 'invalid', diagnostics }
  const manifests = await asSaved(request)
  return withClient(request.open(), (api) => planAndApply({ ...request, manifests }, api))
}

/** Restricts the manifests to the projects and the selection that the saved plan was made for. */
const asSaved = async ({ manifests, saved, cwd }: ApplyRequest): Promise<Manifests> => {
  if (saved === undefined) return manifests
  const { plan } = saved.file
  return select(withoutProjects(manifests, leftOutIds(plan)), plan.selection ?? {}, cwd)
}

const planAndApply = async (request: ApplyRequest, api: WriteApi): Promise<Applied> => {
  let planned = await planOf(request, api)
  for (let question = 1; ; question += 1) {
    const { plan } = planned
    if (!planned.canRun) return { kind: 'unplannable', diagnostics: planned.problems, plan }
    await request.onPlan?.(planned, question > 1)
    const answer = await answerTo(planned, request)
    if (answer === undefined) return { kind: 'declined' }
    if (!answer.wasAsked) return run({ ...request, clock: answer.clock }, planned, answer.consent, api)
    // The user consented only to the plan that was shown, and the project may have changed before the answer.
    const fresh = await planOf(request, api)
    // If a compute has become active in the meantime, its change now counts as a restart, which a policy may deny.
    if (fresh.canRun && isSamePlan(plan, fresh.plan)) return run(request, fresh, answer.consent, api)
    if (fresh.canRun && question === MOST_QUESTIONS) throw keepsChanging()
    planned = fresh
  }
}

const planOf = async (
  { manifests, saved, planned: given, clock, concurrency, onReading }: ApplyRequest,
  api: WriteApi,
): Promise<PlannedApply & { readonly canRun: boolean }> => {
  const planned = given ?? (await planLive(api, manifests, { concurrency, clock, onReading }))
  if (saved !== undefined) checkSavedPlan(saved, planned)
  const { result } = planned
  const { leftOut, waves } = saved?.file.plan ?? {}
  return {
    ...planned,
    // Keep the saved plan's waves, because they also name the projects that it leaves out.
    plan: leftOut === undefined ? result.plan : { ...result.plan, leftOut, ...defined({ waves }) },
    problems: result.ok ? [] : result.diagnostics,
    canRun: result.ok || result.plan.projects.length > 0,
  }
}

const answerTo = async ({ plan, observed }: PlannedApply, request: ApplyRequest) => {
  const { consent, clock, ignoreWindows = false } = request
  if (typeof consent !== 'function') return { consent, clock, wasAsked: false }
  const at = dateOf(clock)
  if (!isAnyDue(plan, observed, { now: () => at }, ignoreWindows)) {
    // The plan is empty, or every step is refused or waits for its window, so there is nothing to ask. The clock is
    // stopped: if a window opened during the run, a step could run without consent.
    return {
      consent: { allow: new Set(CONSENTS) },
      clock: { ...clock, now: () => at, date: () => at },
      wasAsked: false,
    }
  }
  const given = await consent(plan)
  return given && { consent: given, clock, wasAsked: true }
}

const keepsChanging = (): EspalierError =>
  new EspalierError('E_STALE', 'The project changed each time the plan was shown, so nothing was applied.', {
    hint: 'Find out who else is changing it with `espalier operations list`, then apply again.',
    exitCode: EXIT.stale,
  })

const run = async (
  request: ApplyRequest,
  planned: PlannedApply,
  consent: Consents,
  api: WriteApi,
): Promise<Applied> => {
  const { plan, observed } = planned
  const { clock, concurrency, operationTimeoutMs, notify, signal, ignoreWindows = false } = request
  const journal = request.journal === undefined ? undefined : await openJournal(request.journal)
  const watcher = request.watch?.(planned)
  const emit = async (event: ApplyEvent): Promise<void> => {
    await journal?.write(event)
    await watcher?.event(event)
  }
  const time = (): string => new Date(dateOf(clock)).toISOString()
  const interruption = onInterrupt(
    (message) => {
      notify?.(message)
      // If the journal cannot be written, the run stops in any case.
      void emit({ time: time(), type: 'interrupt', message }).catch(() => undefined)
    },
    request.onSignal,
    signal,
  )
  let outcome: Outcome | undefined
  try {
    await emit({ time: time(), type: 'version', espalier: VERSION, format: PLAN_FORMAT_VERSION })
    await emit({ time: time(), type: 'plan', plan })
    for (const one of overriddenOf(plan)) await emit({ time: time(), type: 'policy-overridden', ...one })
    outcome = await applyPlan({
      plan,
      observed,
      api,
      consent,
      ignoreWindows,
      clock,
      concurrency,
      maxFailures: request.maxFailures,
      operationTimeoutMs,
      stop: interruption.stop,
      abort: interruption.abort,
      onEvent: emit,
      ...(request.planned === undefined
        ? { replan: replanner(api, withoutProjects(request.manifests, leftOutIds(plan)), concurrency) }
        : {}),
    })
    return { kind: 'ended', plan, outcome }
  } finally {
    try {
      await journal?.close()
      await watcher?.end(outcome)
    } finally {
      // Signals are released only after everything is written, so that another Ctrl-C cannot hide the outcome.
      interruption.release()
    }
  }
}

/** Plans again at the end of an apply, to check whether the projects have converged. */
export const replanner =
  (api: WriteApi, manifests: Manifests, concurrency?: number): Replan =>
  async (pinAliases, read) =>
    (await planLive(api, manifests, { concurrency, readsOperations: false, pinAliases, read })).result

/**
 * Handles Ctrl-C. The first aborts `stop`, after which new steps start only to give a branch its primary back. The
 * second aborts `abort`, which stops everything immediately. SIGTERM is treated like Ctrl-C. `release` restores Node's
 * own handling of signals.
 *
 * @param onSignal intercepts signals. If absent, signals are not handled here.
 * @param stopping has the same effect as the first Ctrl-C when it is aborted, but shows no message.
 */
const onInterrupt = (notify: (message: string) => void, onSignal?: OnSignal, stopping?: AbortSignal) => {
  const stop = new AbortController()
  const abort = new AbortController()
  const handle = (): void => {
    if (!stop.signal.aborted) {
      notify(
        "Stopping: no new step starts, except to restore a branch's primary. Running steps complete. Press Ctrl-C again to stop immediately.",
      )
      stop.abort()
    } else if (!abort.signal.aborted) {
      notify('Stopping immediately. To continue, apply the manifests again.')
      abort.abort()
    }
  }
  const releases = [
    abortWith(stop, stopping),
    ...(onSignal === undefined ? [] : [onSignal('SIGINT', handle), onSignal('SIGTERM', handle)]),
  ]
  return {
    stop: stop.signal,
    abort: abort.signal,
    release: () => {
      for (const release of releases) release()
    },
  }
}

/**
 * Parses a list of consents. `restart` is always allowed, unless the list contains `none`.
 *
 * @param name the name of the flag or input.
 * @throws {EspalierError} `E_USAGE` for an unknown word.
 */
export const allowed = (values: readonly string[], name = '--allow'): ReadonlySet<Consent> => {
  const words = values
    .flatMap((value) => value.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const wrong = words.find((word) => ![...CONSENTS, 'none'].includes(word))
  if (wrong !== undefined) {
    throw new EspalierError(
      'E_USAGE',
      `${name} cannot be "${wrong}": it must be ${CONSENTS.join(', ')} or none, separated by commas.`,
    )
  }
  const isAllowed = (consent: Consent): boolean =>
    words.includes(consent) || (consent === 'restart' && !words.includes('none'))
  return new Set(CONSENTS.filter(isAllowed))
}
