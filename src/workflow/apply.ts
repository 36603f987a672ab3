/** The whole apply, for the CLI, the Action and the public API. It has every check, so that no caller can skip one. */
import type { OnReading, WriteApi } from '../api/index.ts'
import {
  applyPlan,
  type Budgets,
  type ConsentPolicy,
  isAnyDue,
  isSamePlan,
  openJournal,
  overriddenOf,
  type Replan,
} from '../apply/index.ts'
import { defined, type OnSignal } from '../base/index.ts'
import {
  type ApplyEvent,
  type Clock,
  CONSENTS,
  type Diagnostic,
  EspalierError,
  EXIT,
  hasErrors,
  isEmptyPlan,
  leftOutIds,
  type Outcome,
  PLAN_FORMAT_VERSION,
  type Plan,
} from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { type OpenClient, withClient } from './connect.ts'
import { enforceBudgets } from './consents.ts'
import { onInterrupt } from './interruption.ts'
import { type Manifests, withoutProjects } from './manifests.ts'
import { type Planned, planLive } from './plan.ts'
import { checkSavedPlan, type SavedPlan } from './saved-plan.ts'
import { select } from './selection.ts'

export interface ApplyRequest {
  readonly manifests: Manifests
  /** Called once the manifests are known to be valid. */
  readonly open: () => Promise<OpenClient<WriteApi>>
  readonly clock: Clock
  /** Applied exactly, or not at all. */
  readonly saved?: SavedPlan | undefined
  /** The folder in which to run git, if a saved plan's selection has a ref. Default: the process's folder. */
  readonly cwd?: string | undefined
  /** A fresh plan, which is applied unchanged. The caller checks whether the projects have converged. */
  readonly planned?: Planned | undefined
  /** What may run, or a function that asks the user about the plan and returns `undefined` if the user declines. */
  readonly consent: ConsentPolicy | ((plan: Plan) => Promise<ConsentPolicy | undefined>)
  readonly budgets?: Budgets | undefined
  /** If some projects cannot be planned, apply the others. */
  readonly keepGoing?: boolean | undefined
  readonly ignoreWindows?: boolean | undefined
  /** Once more steps than this have failed, no other step starts. */
  readonly maxFailures?: number | undefined
  /** Projects processed concurrently. Default 16. */
  readonly concurrency?: number | undefined
  /** Default: ten minutes. */
  readonly operationTimeoutMs?: number | undefined
  /** File to which each event is written before the call that it announces. */
  readonly journal?: string | undefined
  /** For Ctrl-C and SIGTERM while steps run. Default: Node handles them. */
  readonly onSignal?: OnSignal | undefined
  /** Once aborted, no new step starts, and running steps complete. */
  readonly signal?: AbortSignal | undefined
  /** Receives messages for users while steps run, for example that the run is stopping. */
  readonly notify?: (message: string) => void
  /** Progress of reading the projects, before a plan is shown. */
  readonly onReading?: OnReading | undefined
  /** Called with each plan before the user is asked. `again`: the project changed after the previous plan was shown. */
  readonly onPlan?: (planned: PlannedApply, again: boolean) => void | Promise<void>
  /** Called once all checks have passed; the result receives the events. */
  readonly watch?: (planned: PlannedApply) => Watcher
}

export interface Watcher {
  /** Awaited before the call that the event announces. If it rejects, no new step starts. */
  event(event: ApplyEvent): void | Promise<void>
  /** Called at the end of every run, while signals are still intercepted. */
  end(outcome: Outcome | undefined): Promise<void>
}

export interface PlannedApply extends Planned {
  /** The plan to apply. */
  readonly plan: Plan
  /** Why some projects cannot be planned. */
  readonly problems: readonly Diagnostic[]
}

export type Applied =
  /** The manifests have errors; no request was sent. */
  | { readonly kind: 'invalid'; readonly diagnostics: readonly Diagnostic[] }
  /** Some projects cannot be planned, so none was changed. */
  | { readonly kind: 'unplannable'; readonly diagnostics: readonly Diagnostic[]; readonly plan: Plan }
  | { readonly kind: 'declined' }
  | { readonly kind: 'ended'; readonly plan: Plan; readonly outcome: Outcome }

/** How many times to ask if the project changes while the user decides. */
const MOST_QUESTIONS = 3

/**
 * @throws {EspalierError} `E_STALE`, `E_PLAN_EDITED` for a saved plan that must not run; `E_BUDGET`; `E_STALE` if the
 *   project changed each time that the user was asked; `E_JOURNAL`; errors of the control API.
 */
export const apply = async (request: ApplyRequest): Promise<Applied> => {
  const { diagnostics } = request.manifests.loaded
  if (hasErrors(diagnostics)) return { kind: 'invalid', diagnostics }
  const manifests = await asSaved(request)
  return withClient(request.open(), (api) => planAndApply({ ...request, manifests }, api))
}

/** Restricts the manifests to the projects and the selection that the saved plan was made from. */
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
    enforceBudgets(plan, request.budgets)
    const answer = await answerTo(plan, request)
    if (answer === undefined) return { kind: 'declined' }
    if (!answer.wasAsked) return run({ ...request, clock: answer.clock }, planned, answer.consent, api)
    // The user may have taken a while to answer, and consented only to the plan that was shown.
    const fresh = await planOf(request, api)
    if (fresh.canRun && isSamePlan(plan, fresh.plan)) {
      // A compute may have become active in the meantime, so that its change now counts as a restart.
      enforceBudgets(fresh.plan, request.budgets)
      return run(request, fresh, answer.consent, api)
    }
    if (fresh.canRun && question === MOST_QUESTIONS) throw keepsChanging()
    planned = fresh
  }
}

const planOf = async (
  { manifests, saved, planned: given, keepGoing = false, concurrency, onReading }: ApplyRequest,
  api: WriteApi,
): Promise<PlannedApply & { readonly canRun: boolean }> => {
  const planned = given ?? (await planLive(api, manifests, { concurrency, onReading }))
  if (saved !== undefined) checkSavedPlan(saved, planned)
  const { result } = planned
  const { leftOut, waves } = saved?.file.plan ?? {}
  return {
    ...planned,
    // Keep the saved plan's waves, because they also name the projects that it leaves out.
    plan: leftOut === undefined ? result.plan : { ...result.plan, leftOut, ...defined({ waves }) },
    problems: result.ok ? [] : result.diagnostics,
    canRun: result.ok || (keepGoing && result.plan.projects.length > 0),
  }
}

interface Answer {
  readonly consent: ConsentPolicy
  readonly clock: Clock
  readonly wasAsked: boolean
}

const answerTo = async (plan: Plan, request: ApplyRequest): Promise<Answer | undefined> => {
  const { consent, clock, ignoreWindows = false } = request
  if (typeof consent !== 'function') return { consent, clock, wasAsked: false }
  const at = clock.now()
  if (isEmptyPlan(plan) || (!ignoreWindows && !isAnyDue(plan, at))) {
    // The plan is empty or every step waits for its window, so there is nothing to ask. The clock is stopped, so that
    // no window opens during the run and lets a step run without consent.
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
  consent: ConsentPolicy,
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
  const time = (): string => new Date(clock.date?.() ?? clock.now()).toISOString()
  const interruption = onInterrupt(
    (message) => {
      notify?.(message)
      // If the journal cannot be written, the run stops anyway.
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
      // Only once everything is written, so that another Ctrl-C cannot hide the outcome.
      interruption.release()
    }
  }
}

/** Plans again at the end of an apply, to check whether the projects have converged. */
export const replanner =
  (api: WriteApi, manifests: Manifests, concurrency?: number): Replan =>
  async (pinAliases, read) =>
    (await planLive(api, manifests, { concurrency, estimate: false, pinAliases, read })).result

/** @param option the name of the flag or input. */
export const nothingChanged = ({ projects }: Plan, option: string): string => {
  const count = projects.length
  if (count === 0) return 'Nothing was changed.'
  const [others, them] = count === 1 ? ['project has', 'it'] : ['projects have', 'them']
  return `Nothing was changed. ${count} other ${others} no problem: ${option} applies ${them}.`
}
