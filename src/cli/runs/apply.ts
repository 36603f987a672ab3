import {
  type ApplyEvent,
  EspalierError,
  EXIT,
  type ExitCode,
  exitCodeOf,
  hasErrors,
  isEmptyPlan,
  plainJson,
} from '../../model/index.ts'
import type { PlanRun } from '../../report/html/index.ts'
import { terminalOutcome, terminalPlan } from '../../report/index.ts'
import {
  allowed,
  apply,
  type Manifests,
  manifestPaths,
  nothingChanged,
  type PlannedApply,
  readSavedPlan,
  type SavedPlan,
  select,
  selectionNote,
  type Watcher,
} from '../../workflow/index.ts'
import { askConsent, requireTerminal } from '../ask.ts'
import type { ApplyFlags } from '../commands/apply.ts'
import { openWriteApi } from '../connect.ts'
import { selectionOf, usageError } from '../flags.ts'
import { type Io, timeOf } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { openPageOf, PAGE_FRAME, type WritePage } from '../page-file.ts'
import { type Progress, progressOf } from '../progress.ts'
import { readingLine } from '../reading-line.ts'
import { printNote, reportLeftOut, reportProblems } from '../report-problems.ts'
import { sameArguments } from '../same-arguments.ts'
import { print, styleOf } from '../terminal.ts'

export const runApply = async (flags: ApplyFlags, io: Io): Promise<ExitCode> => {
  // All flags are checked before anything is read.
  const policy = { allow: allowed(flags.allow ?? []) }
  const selection = selectionOf(flags)
  const page = await openPageOf(flags, io)
  const saved = await savedPlan(flags, io)
  const manifests = await manifestsFor(flags, selection, saved, io)
  if (!hasErrors(manifests.loaded.diagnostics) && flags.autoApprove !== true) requireTerminal(io, NO_TERMINAL)
  const reading = readingLine(io)
  const applied = await apply({
    manifests,
    saved,
    cwd: io.cwd,
    open: () => openWriteApi(flags, flags.timeout, io, reading),
    clock: io.clock,
    consent: flags.autoApprove === true ? policy : (plan) => askConsent(plan, policy, io),
    maxFailures: flags.maxFailures,
    keepGoing: flags.keepGoing,
    ignoreWindows: flags.now,
    operationTimeoutMs: flags.timeout,
    journal: flags.journal === undefined ? undefined : io.locate(flags.journal),
    onSignal: io.onSignal,
    notify: (message) => print(message, io.stderr),
    onReading: reading.onReading,
    onPlan: (planned, again) => showPlan(planned, again, flags, io),
    watch: (planned) => watch(planned, page, flags, io),
  }).finally(reading.end)
  switch (applied.kind) {
    case 'invalid':
      reportProblems(applied.diagnostics, manifests.loaded, flags, io)
      return EXIT.error
    case 'unplannable':
      reportProblems([...manifests.loaded.diagnostics, ...applied.diagnostics], manifests.loaded, flags, io)
      print(nothingChanged(applied.plan, '--keep-going'), io.stderr)
      return EXIT.error
    case 'declined':
      print('Not applied: nothing was changed.', io.stderr)
      return EXIT.error
    case 'ended':
      if (isEmptyPlan(applied.plan) && flags.format !== 'json') reportLeftOut(applied.plan, io)
      return exitCodeOf(applied.outcome, applied.plan)
  }
}

const NO_TERMINAL =
  'Use --auto-approve, and use --allow for changes that --auto-approve does not permit. To see what would change, run `espalier plan`.'

/** The saved plan, if the first path ends in `.json`. */
const savedPlan = async (flags: ApplyFlags, { locate }: Io): Promise<SavedPlan | undefined> => {
  const [name = ''] = flags.paths
  if (!isPlanPath(name)) return undefined
  for (const flag of ['project', 'branch', 'wave', 'base'] as const) {
    if (flags[flag] === undefined) continue
    throw usageError(`--${flag} cannot be combined with a saved plan, which already contains it.`, `Remove --${flag}.`)
  }
  return readSavedPlan(name, locate(name))
}

const isPlanPath = (path: string): boolean => path.endsWith('.json')

const manifestsFor = async (
  flags: ApplyFlags,
  selection: ReturnType<typeof selectionOf>,
  saved: SavedPlan | undefined,
  io: Io,
): Promise<Manifests> => {
  const paths = saved === undefined ? flags.paths : manifestPaths(saved, flags.paths.slice(1), io.cwd)
  if (flags.base !== undefined && flags.introduced !== true) {
    throw usageError('apply --base needs --introduced.', 'To see the introduced changes, run: espalier plan --base REF')
  }
  const manifests = await readManifests(paths, io, flags)
  const isUnselected = saved !== undefined || hasErrors(manifests.loaded.diagnostics)
  return isUnselected ? manifests : select(manifests, selection, io.cwd)
}

const showPlan = ({ plan, observed }: PlannedApply, again: boolean, flags: ApplyFlags, io: Io): void => {
  if (again) {
    print(
      'The project has changed since the plan above was made, so it was not applied. This is the new plan:',
      io.stderr,
    )
  }
  printNote(selectionNote(plan), io)
  // With --format json, the events contain the plan, so it is shown separately only if the user must confirm it.
  const isJson = flags.format === 'json'
  if (isJson && flags.autoApprove === true) return
  const stream = isJson ? io.stderr : io.stdout
  const shown = {
    takenAt: observed.takenAt,
    now: timeOf(io),
    overridesWindows: flags.now === true,
    detail: flags.detail,
  }
  print(terminalPlan(plan, styleOf(stream, flags, io.env), shown), stream)
}

/** Prints events as lines or as a live view, and then the outcome. Writes the HTML page if it was requested. */
const watch = (planned: PlannedApply, page: WritePage | undefined, flags: ApplyFlags, io: Io): Watcher => {
  const { plan } = planned
  const isQuiet = isEmptyPlan(plan)
  const progress = flags.format === 'json' ? undefined : isQuiet ? NO_PROGRESS : progressOf(plan, flags, io)
  const events: ApplyEvent[] = []
  return {
    event: (event) => {
      if (page !== undefined) events.push(event)
      if (progress === undefined) print(plainJson(event), io.stdout)
      else progress.report(event)
    },
    end: async (outcome) => {
      progress?.end()
      if (page !== undefined) await writeReport(page, planned, { events, outcome }, io)
      if (outcome !== undefined && progress !== undefined && !isQuiet) {
        const style = styleOf(io.stdout, flags, io.env)
        const args = sameArguments(planned.manifests.paths, flags)
        print(terminalOutcome(plan, outcome, style, true, args), io.stdout)
      }
    },
  }
}

const NO_PROGRESS: Progress = { report: () => undefined, end: () => undefined }

/** A page that cannot be written causes only a warning, because the changes have already been made. */
const writeReport = async (write: WritePage, { plan, observed }: PlannedApply, run: PlanRun, io: Io): Promise<void> => {
  // This is loaded only on demand, because it needs an HTML library.
  const { planPage } = await import('../../report/html/index.ts')
  await write(planPage(plan, { ...PAGE_FRAME, observed, run })).catch((error: unknown) => {
    if (!(error instanceof EspalierError)) throw error
    print(`Warning  ${error.code}: ${error.message}`, io.stderr)
  })
}
