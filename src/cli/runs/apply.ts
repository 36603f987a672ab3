import { createWriteApi, type WriteApi } from '../../api/index.ts'
import {
  applyPlan,
  type Budgets,
  type ConsentPolicy,
  exitCodeOf,
  isAnyDue,
  isSamePlan,
  type Journal,
  openJournal,
  type PlanFile,
} from '../../apply/index.ts'
import {
  type ApplyEvent,
  type Clock,
  CONSENTS,
  EspalierError,
  EXIT,
  type ExitCode,
  hasErrors,
  isEmptyPlan,
  leftOutIds,
  type Observed,
  type Outcome,
  PLAN_FORMAT_VERSION,
  type Plan,
} from '../../model/index.ts'
import { VERSION } from '../../model/version.ts'
import { jsonEvent, terminalOutcome, terminalPlan } from '../../report/index.ts'
import {
  allowed,
  applicablePlan,
  checkSavedPlan,
  coveredBy,
  keepShard,
  keepToBudgets,
  look,
  type Manifests,
  manifestsOf,
  nothingChanged,
  onInterrupt,
  readPlanFile,
  withoutProjects,
} from '../../workflow/index.ts'
import { askConsent } from '../ask.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { checkNumber, durationMs, shardOfFlag, usageError } from '../flags.ts'
import { type Io, timeOf } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { openPage, PAGE_FRAME, type PageFile } from '../page-file.ts'
import { printShard } from '../print-shard.ts'
import { progressOf } from '../progress.ts'
import { reportLeftOut, reportProblems } from '../report-problems.ts'
import { STDIN } from '../stdin.ts'
import { canAsk, print, styleOf } from '../terminal.ts'

export interface ApplyFlags extends ApiFlags {
  readonly paths: readonly string[]
  readonly plan?: string | undefined
  readonly format: string
  readonly sizeTable?: string | undefined
  readonly shard?: string | undefined
  readonly autoApprove?: boolean | undefined
  readonly allow?: readonly string[] | undefined
  readonly now?: boolean | undefined
  readonly keepGoing?: boolean | undefined
  readonly maxRestarts?: number | undefined
  readonly maxDeletes?: number | undefined
  readonly maxCuIncrease?: number | undefined
  readonly operationTimeout: string
  readonly lockTimeout: string
  readonly journal?: string | undefined
  readonly report?: string | undefined
  readonly noColor?: boolean | undefined
}

export const runApply = async (flags: ApplyFlags, io: Io): Promise<ExitCode> => {
  const settings = settingsOf(flags, io)
  const report = flags.report === undefined ? undefined : await openPage(flags.report, 'report', io)
  const { file, name, paths } = await savedPlan(flags, io)
  const shard = shardOfFlag(file?.shard ?? flags.shard)
  const manifests = coveredBy(file?.plan, keepShard(await readManifests(paths, flags.sizeTable, io), shard))
  const { loaded } = manifests
  if (hasErrors(loaded.diagnostics)) {
    reportProblems(loaded.diagnostics, loaded, flags, io)
    return EXIT.error
  }
  printShard(manifests, io)
  const connection = await connect({ ...flags, runs: shard?.count }, io)
  const api = createWriteApi({ ...connection.options, lockTimeoutMs: settings.lockTimeoutMs })
  try {
    const refresh = async (): Promise<Planned | undefined> => {
      const seen = await look(api, manifests, { concurrency: flags.concurrency, estimate: true })
      if (file !== undefined) checkSavedPlan(file, name, manifests, seen)
      const { observed, result } = seen
      const plan = applicablePlan(result, flags.keepGoing === true, file?.plan)
      if (plan !== undefined) return { plan, observed, manifests: withoutProjects(manifests, leftOutIds(plan)) }
      reportProblems([...loaded.diagnostics, ...(result.ok ? [] : result.diagnostics)], loaded, flags, io)
      print(nothingChanged(result.plan, '--keep-going'), io.stderr)
      return undefined
    }
    const planned = await refresh()
    if (planned === undefined) return EXIT.error
    return await carryOut({ ...planned, api, flags, settings, report, io }, refresh)
  } finally {
    await api.close()
    await connection.close()
  }
}

interface Settings {
  readonly policy: ConsentPolicy
  readonly operationTimeoutMs: number
  readonly lockTimeoutMs: number
}

/** Everything that can be wrong with the flags is said before anything is read. */
const settingsOf = (flags: ApplyFlags, io: Io): Settings => {
  checkNumber('max-restarts', flags.maxRestarts, 0)
  checkNumber('max-deletes', flags.maxDeletes, 0)
  checkNumber('max-cu-increase', flags.maxCuIncrease, 0, false)
  if (flags.autoApprove !== true && (!canAsk(io) || flags.paths.includes(STDIN))) {
    throw new EspalierError('E_CONSENT', 'Nobody can be asked here, and nothing is changed without a yes.', {
      hint: 'Give --auto-approve, and --allow for what a yes does not cover; `espalier plan` shows what would change.',
    })
  }
  return {
    policy: { allow: allowed(flags.allow ?? []) },
    operationTimeoutMs: durationMs('operation-timeout', flags.operationTimeout),
    lockTimeoutMs: durationMs('lock-timeout', flags.lockTimeout),
  }
}

const savedPlan = async (
  flags: ApplyFlags,
  { cwd, locate }: Io,
): Promise<{ readonly file?: PlanFile; readonly name: string; readonly paths: readonly string[] }> => {
  const [only] = flags.paths
  const isPath = flags.plan === undefined && flags.paths.length === 1 && only?.endsWith('.json') === true
  const name = flags.plan ?? (isPath ? only : undefined)
  if (name === undefined) return { name: '', paths: flags.paths }
  if (flags.shard !== undefined) {
    throw usageError('--shard has no place beside a saved plan, which knows its own.', 'Leave --shard out.')
  }
  const file = await readPlanFile(locate(name))
  const given = isPath ? [] : flags.paths
  return { file, name, paths: manifestsOf(file, name, given, cwd) }
}

interface Planned {
  readonly plan: Plan
  readonly observed: Observed
  readonly manifests: Manifests
}

interface Work extends Planned {
  readonly io: Io
  readonly api: WriteApi
  readonly flags: ApplyFlags
  readonly settings: Settings
  /** The page of what happened, where one is asked for. */
  readonly report: PageFile | undefined
}

/** How often a plan is shown that the project has left behind while somebody thought about it. */
const MOST_QUESTIONS = 3

/** @param refresh reads the project and plans again; `undefined` where there is no plan, which it has said. */
const carryOut = async (work: Work, refresh: () => Promise<Planned | undefined>, question = 1): Promise<ExitCode> => {
  const { plan, observed, flags, io } = work
  const isJson = flags.format === 'json'
  const at = io.clock.now()
  const now = new Date(at).toISOString()
  const shown = { takenAt: observed.takenAt, now, overridesWindows: flags.now === true }
  // The stream of events holds the plan; beside it people see one only where they are asked about it.
  if (!isJson) print(terminalPlan(plan, styleOf(io.stdout, flags, io.env), shown), io.stdout)
  else if (flags.autoApprove !== true) {
    print(terminalPlan(plan, styleOf(io.stderr, flags, io.env), shown), io.stderr)
  }
  if (isEmptyPlan(plan) && !isJson) {
    await writeReport(work, [], { steps: [], interrupted: false, notes: [] })
    return reportLeftOut(plan, io) ? EXIT.ok : EXIT.partial
  }
  keepToBudgets(plan, budgetsOf(flags))
  // Nobody is asked where all of it waits: the clock stands still then, so that no window opens without a yes.
  const waitsWhole = flags.autoApprove !== true && flags.now !== true && !isAnyDue(plan, at)
  const clock = waitsWhole ? { ...io.clock, now: () => at, date: () => at } : io.clock
  const isAsked = !waitsWhole && flags.autoApprove !== true && !isEmptyPlan(plan)
  const policy = waitsWhole ? { allow: new Set(CONSENTS) } : await policyFor(work)
  if (policy === undefined) {
    print('Not applied: nothing was changed.', io.stderr)
    return EXIT.error
  }
  // Thinking takes time, and the yes is for the plan that was shown.
  const fresh = isAsked ? await refresh() : work
  if (fresh === undefined) return EXIT.error
  if (!isSamePlan(plan, fresh.plan)) {
    if (question === MOST_QUESTIONS) throw keepsMoving()
    print('The project has changed since this plan was made. Nothing was changed; this is the plan now:', io.stderr)
    return carryOut({ ...work, ...fresh }, refresh, question + 1)
  }
  // A compute that woke up is restarted now.
  keepToBudgets(fresh.plan, budgetsOf(flags))
  const outcome = await perform({ ...work, ...fresh }, policy, clock)
  return exitCodeOf(outcome, plan)
}

const budgetsOf = ({ maxRestarts, maxDeletes, maxCuIncrease }: ApplyFlags): Budgets => ({
  ...(maxRestarts === undefined ? {} : { maxRestarts }),
  ...(maxDeletes === undefined ? {} : { maxDeletes }),
  ...(maxCuIncrease === undefined ? {} : { maxCuIncrease }),
})

const keepsMoving = (): EspalierError =>
  new EspalierError('E_STALE', 'The project changed each time that the plan was shown; nothing was changed.', {
    hint: 'See who else is changing it with `espalier operations list`, then apply again.',
    exitCode: EXIT.stale,
  })

const policyFor = async ({ plan, flags, settings, io }: Work): Promise<ConsentPolicy | undefined> =>
  flags.autoApprove === true || isEmptyPlan(plan) ? settings.policy : askConsent(plan, settings.policy, io)

const perform = async (work: Work, policy: ConsentPolicy, clock: Clock): Promise<Outcome> => {
  const { plan, observed, manifests, api, flags, settings, io } = work
  const journal: Journal | undefined =
    flags.journal === undefined ? undefined : await openJournal(io.locate(flags.journal))
  const progress = flags.format === 'json' ? undefined : progressOf(plan, observed, flags, io)
  const events: ApplyEvent[] = []
  let outcome: Outcome | undefined
  const tell = async (event: ApplyEvent): Promise<void> => {
    if (work.report !== undefined) events.push(event)
    await journal?.write(event)
    if (progress === undefined) print(jsonEvent(event), io.stdout)
    else progress.tell(event)
  }
  const now = (): string => timeOf(io)
  const interruption = onInterrupt((message) => {
    print(message, io.stderr)
    // A journal that cannot be written any more stops the run by itself.
    void tell({ time: now(), type: 'interrupt', message }).catch(() => undefined)
  }, io.onSignal)
  try {
    await tell({ time: now(), type: 'version', espalier: VERSION, format: PLAN_FORMAT_VERSION })
    await tell({ time: now(), type: 'plan', plan })
    outcome = await applyPlan({
      plan,
      observed,
      api,
      consent: policy,
      ignoreWindows: flags.now === true,
      clock,
      concurrency: flags.concurrency,
      operationTimeoutMs: settings.operationTimeoutMs,
      stop: interruption.stop,
      abort: interruption.abort,
      onEvent: tell,
      replan: async (pinAliases, read) =>
        (await look(api, manifests, { concurrency: flags.concurrency, estimate: false, pinAliases, read })).result,
    })
    return outcome
  } finally {
    try {
      await progress?.end()
      await journal?.close()
      // However it ended.
      await writeReport(work, events, outcome)
      if (outcome !== undefined && progress !== undefined) {
        print(terminalOutcome(plan, outcome, styleOf(io.stdout, flags, io.env), true), io.stdout)
      }
    } finally {
      // Not before all is written: one more Ctrl-C must not hide what became of the run.
      interruption.release()
    }
  }
}

/** What is done is done: a page that cannot be written any more is told, and changes no exit code. */
const writeReport = async (
  { plan, observed, report, flags, io }: Work,
  events: readonly ApplyEvent[],
  outcome: Outcome | undefined,
): Promise<void> => {
  if (report === undefined) return
  // Loaded only where it is asked for: it brings an HTML library.
  const { applyPage } = await import('../../report/html/index.ts')
  try {
    await report.write(applyPage({ plan, events, observed, ...(outcome === undefined ? {} : { outcome }) }, PAGE_FRAME))
    print(`Written to ${flags.report}: what happened, for any browser.`, io.stderr)
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error
    print(`Warning  ${error.code}: ${error.message}`, io.stderr)
  }
}
