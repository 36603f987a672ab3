/**
 * A whole apply, the same for the command line, the Action and a rehearsal: every gate is here, and no
 * caller can pass by one.
 */
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
import type { OnSignal } from '../base/index.ts'
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
import type { OpenClient } from './connect.ts'
import { enforceBudgets } from './consents.ts'
import { onInterrupt } from './interruption.ts'
import { type Manifests, withoutProjects } from './manifests.ts'
import { type Planned, planLive } from './plan.ts'
import { checkSavedPlan, type SavedPlan } from './saved-plan.ts'
import { select } from './selection.ts'

export interface ApplyRequest {
  readonly manifests: Manifests
  /** Asked for once the manifests are known to be right. */
  readonly open: () => Promise<OpenClient<WriteApi>>
  readonly clock: Clock
  /** Applied exactly, or not at all. */
  readonly saved?: SavedPlan | undefined
  /** Where git finds what a saved selection was compared with. Default: the process's folder. */
  readonly cwd?: string | undefined
  /** Made just now, and applied as it is. Whether the projects have converged is left to the caller. */
  readonly planned?: Planned | undefined
  /** What may run; or whom to ask, once the plan was shown. `undefined` is a no. */
  readonly consent: ConsentPolicy | ((plan: Plan) => Promise<ConsentPolicy | undefined>)
  readonly budgets?: Budgets | undefined
  /** Where some projects cannot be planned, applies the others. */
  readonly keepGoing?: boolean | undefined
  readonly ignoreWindows?: boolean | undefined
  /** Once more steps than this have failed, no other one starts. */
  readonly maxFailures?: number | undefined
  /** Projects processed concurrently. Default 16. */
  readonly concurrency?: number | undefined
  /** Default: ten minutes. */
  readonly operationTimeoutMs?: number | undefined
  /** A file that gets every event before what it announces. */
  readonly journal?: string | undefined
  /** Ctrl-C and SIGTERM, while steps run. Default: they are left to Node. */
  readonly onSignal?: OnSignal | undefined
  /** Aborted: no new step starts, running steps are completed. */
  readonly signal?: AbortSignal | undefined
  /** Words for people while steps run: that it is stopping. */
  readonly notify?: (message: string) => void
  /** How far the reading of the projects has come, before a plan is shown. */
  readonly onReading?: OnReading | undefined
  /** Each plan, before anybody is asked about it. `again`: the project has changed since the one before was shown. */
  readonly onPlan?: (planned: PlannedApply, again: boolean) => void | Promise<void>
  /** Called once all gates are passed; receives the events. */
  readonly watch?: (planned: PlannedApply) => Watcher
}

export interface Watcher {
  /** Awaited before the call that it announces; when it rejects, nothing new is started. */
  event(event: ApplyEvent): void | Promise<void>
  /** However it ended; signals are still held back. */
  end(outcome: Outcome | undefined): Promise<void>
}

export interface PlannedApply extends Planned {
  /** What would be applied: the planned projects, without those that a saved plan leaves out. */
  readonly plan: Plan
  /** Of the projects that cannot be planned. */
  readonly problems: readonly Diagnostic[]
}

export type Applied =
  /** The manifests have errors; nothing was read. */
  | { readonly kind: 'invalid'; readonly diagnostics: readonly Diagnostic[] }
  /** Some projects cannot be planned, and nothing was changed in the others either. */
  | { readonly kind: 'unplannable'; readonly diagnostics: readonly Diagnostic[]; readonly plan: Plan }
  | { readonly kind: 'declined' }
  | { readonly kind: 'ended'; readonly plan: Plan; readonly outcome: Outcome }

/** How often a plan is shown that the project has left behind while somebody thought about it. */
const MOST_QUESTIONS = 3

/**
 * @throws {EspalierError} `E_STALE`, `E_PLAN_EDITED` for a saved plan that must not run; `E_BUDGET`; `E_STALE` if the
 *   project changed each time that somebody was asked; `E_JOURNAL`; what the control API throws while it is read.
 */
export const apply = async (request: ApplyRequest): Promise<Applied> => {
  const { diagnostics } = request.manifests.loaded
  if (hasErrors(diagnostics)) return { kind: 'invalid', diagnostics }
  const manifests = await asSaved(request)
  const { api, close } = await request.open()
  try {
    return await planAndApply({ ...request, manifests }, api)
  } finally {
    await close()
  }
}

/** A saved plan remembers what it was planned of. */
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
    // Thinking takes time, and the yes is for the plan that was shown.
    const fresh = await planOf(request, api)
    if (fresh.canRun && isSamePlan(plan, fresh.plan)) {
      // A compute that woke up is restarted now.
      enforceBudgets(fresh.plan, request.budgets)
      return run(request, fresh, answer.consent, api)
    }
    if (fresh.canRun && question === MOST_QUESTIONS) throw keepsMoving()
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
    // The waves of a saved plan name the projects that it leaves out too.
    plan: leftOut === undefined ? result.plan : { ...result.plan, leftOut, ...(waves === undefined ? {} : { waves }) },
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
    // There is nothing to ask about where every step waits for its window. The clock is stopped, so that none opens
    // meanwhile without a yes.
    return {
      consent: { allow: new Set(CONSENTS) },
      clock: { ...clock, now: () => at, date: () => at },
      wasAsked: false,
    }
  }
  const given = await consent(plan)
  return given && { consent: given, clock, wasAsked: true }
}

const keepsMoving = (): EspalierError =>
  new EspalierError('E_STALE', 'The project changed each time the plan was shown; nothing was changed.', {
    hint: 'See who else is changing it with `espalier operations list`, then apply again.',
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
  const interruption = onInterrupt((message) => {
    notify?.(message)
    // A journal that cannot be written any more stops the run by itself.
    void emit({ time: time(), type: 'interrupt', message }).catch(() => undefined)
  }, request.onSignal)
  const stops = [interruption.stop, ...(signal === undefined ? [] : [signal])]
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
      stop: AbortSignal.any(stops),
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
      // Not before all is written: one more Ctrl-C must not hide the outcome of the run.
      interruption.release()
    }
  }
}

/** Plans again once all is done, to see whether the projects have converged. */
export const replanner =
  (api: WriteApi, manifests: Manifests, concurrency?: number): Replan =>
  async (pinAliases, read) =>
    (await planLive(api, manifests, { concurrency, estimate: false, pinAliases, read })).result

/** @param option what the flag or the input is called. */
export const nothingChanged = ({ projects }: Plan, option: string): string => {
  const fine = projects.length
  if (fine === 0) return 'Nothing was changed.'
  const [others, them] = fine === 1 ? ['project has', 'it'] : ['projects have', 'them']
  return `Nothing was changed. ${fine} other ${others} no problem: ${option} applies ${them}.`
}
