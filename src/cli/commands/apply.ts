import { EspalierError, EXIT, plainJson } from '../../base/index.ts'
import { type ApplyEvent, type Consent, exitCodeOf, hasErrors, isEmptyPlan, type Outcome } from '../../model/index.ts'
import type { PlanRun } from '../../report/html/index.ts'
import { isNotStarted, terminalOutcome, terminalPlan } from '../../report/index.ts'
import {
  allowed,
  apply,
  DEFAULT_PATHS,
  type Manifests,
  manifestPaths,
  type PlannedApply,
  readSavedPlan,
  type SavedPlan,
  select,
  selectionNote,
  type Watcher,
} from '../../workflow/index.ts'
import { commandOf, type Description, type Invocation, type ValuesOf } from '../command.ts'
import { openWriteApi } from '../setup/connect.ts'
import {
  CONNECTION_FLAGS,
  formatFlag,
  HTML_FLAG,
  number,
  PATHS,
  PLAN_VIEW_FLAGS,
  PLANNING_FLAGS,
  selectionOf,
  TIMEOUT_FLAG,
  text,
  toggle,
  usageError,
} from '../setup/flags.ts'
import { type Io, timeOf } from '../setup/io.ts'
import { readReviewed } from '../setup/manifests.ts'
import { completeCommands, isPlanPath } from '../setup/suggested-commands.ts'
import { askConsent, requireTerminal } from '../terminal/ask.ts'
import { readingLine } from '../terminal/bottom-lines.ts'
import { openPageOf, type WritePage } from '../terminal/page-file.ts'
import { type Progress, progressOf } from '../terminal/progress.ts'
import { printNote, reportLeftOut, reportProblems } from '../terminal/report-problems.ts'
import { print, styleOf } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: {
    paths: {
      ...PATHS.paths,
      describe: `${PATHS.paths.describe}. Or a saved plan (FILE.json), optionally followed by its manifests`,
    },
  },
  flags: {
    ...PLANNING_FLAGS,
    base: text('Manifests:', 'With --introduced, the git ref to compare with', { value: 'REF' }),
    'auto-approve': toggle('Consent:', 'Do not ask for confirmation', { alias: 'yes' }),
    allow: text('Consent:', 'Impacts to allow: disconnect, move, replace, delete; or none, to forbid restarts too', {
      value: 'LIST',
      array: true,
    }),
    now: toggle('Consent:', 'Run disruptive steps even while their restart windows are closed'),
    'max-restarts': number('Consent:', 'Do not apply the plan if more than N computes may restart'),
    'max-failures': number('Consent:', 'After more than N failures, start new steps only to restore primaries'),
    ...TIMEOUT_FLAG,
    journal: text('Output:', 'Append each event to FILE before continuing', { value: 'FILE' }),
    html: {
      ...HTML_FLAG.html,
      describe: 'Also write an HTML page to FILE, even if steps fail or are interrupted',
    },
    format: formatFlag('Output format; json prints one event per line', ['terminal', 'json']),
    ...PLAN_VIEW_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 apply', 'Show the plan, ask for confirmation, and apply it'],
    ['$0 apply plan.json', 'Apply a plan that plan --out saved'],
    ['$0 apply --auto-approve --allow delete', 'Apply without a prompt, and allow deletes'],
    ['$0 apply --base origin/main --introduced', 'Apply only the changes since origin/main'],
    ['$0 apply --html apply.html', 'Also write a page with the outcome'],
    ['$0 apply --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `After Ctrl-C, apply finishes the running steps, and starts new ones only to restore a
branch's primary. A second Ctrl-C stops immediately. To continue, apply the manifests again.
In CI or without a terminal, --auto-approve is required.

Exit codes:
  0   done, or nothing to do
  1   an error before any change, you declined, everything is refused or denied, or output was lost
  3   incomplete: for example, a step failed, was stale or not allowed, or projects still differ
  4   the plan is stale or was edited; nothing was changed
  5   done, except steps that wait for their restart window
  130 interrupted`,
} as const satisfies Description

type ApplyFlags = ValuesOf<typeof DESCRIPTION>

export const applyCommand = commandOf(DESCRIPTION, async (given, io) => {
  // All flags are checked before anything is read.
  const policy = { allow: allowed(given.allow ?? []) }
  refuseSelectionOfSavedPlan(given)
  const selection = selectionOf(given)
  const page = await openPageOf(given, io)
  const saved = await savedPlan(given, io)
  const manifests = await manifestsFor(given, selection, saved, io)
  const flags = saved === undefined ? given : { ...given, invocation: invocationOf(saved, manifests, given) }
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
    ignoreWindows: flags.now,
    operationTimeoutMs: flags.timeout,
    journal: flags.journal === undefined ? undefined : io.locate(flags.journal),
    onSignal: io.onSignal,
    notify: (message) => print(message, io.stderr),
    onReading: reading.onReading,
    onPlan: (planned, again) => showPlan(planned, policy.allow, again, flags, io),
    watch: (planned) => watch(planned, page, flags, io),
  })
    .catch((error: unknown) => {
      throw error instanceof EspalierError ? withCompleteHint(error, flags) : error
    })
    .finally(reading.end)
  switch (applied.kind) {
    case 'invalid':
      reportProblems(applied.diagnostics, manifests.loaded, flags, io)
      return EXIT.error
    case 'unplannable':
      reportProblems([...manifests.loaded.diagnostics, ...applied.diagnostics], manifests.loaded, flags, io)
      print('Nothing was changed.', io.stderr)
      return EXIT.error
    case 'declined':
      print('Not applied: nothing was changed.', io.stderr)
      return EXIT.error
    case 'ended':
      if (isEmptyPlan(applied.plan) && flags.format !== 'json') reportLeftOut(applied.plan, io)
      return exitCodeOf(applied.outcome, applied.plan)
  }
})

/** The manifests and the selection of a saved plan, for suggested commands that plan again. */
const invocationOf = (
  { file: { plan } }: SavedPlan,
  { paths: read }: Manifests,
  { paths: [file], invocation }: ApplyFlags,
): Invocation => {
  const { projects: project, branches: branch, wave, introducedSince: base } = plan.selection ?? {}
  const paths = read.filter((path) => !DEFAULT_PATHS.some((one) => one === path))
  const selection = { project, branch, wave, base, introduced: base === undefined ? undefined : true }
  return { ...invocation, values: { ...invocation.values, ...selection, paths: [file, ...paths] } }
}

/** A saved plan cannot be applied again once a step has changed the project. */
const afterSteps = (flags: ApplyFlags, { steps }: Outcome): ApplyFlags => {
  const { invocation, paths } = flags
  const { values } = invocation
  const isUnchanged = steps.every(({ status }) => isNotStarted(status))
  if (isUnchanged || !isPlanPath(paths[0] ?? '') || !Array.isArray(values.paths)) return flags
  return { ...flags, invocation: { ...invocation, values: { ...values, paths: values.paths.slice(1) } } }
}

const withCompleteHint = ({ code, message, hint = '', exitCode, cause }: EspalierError, { invocation }: ApplyFlags) =>
  new EspalierError(code, message, { hint: completeCommands(hint, invocation) || undefined, exitCode, cause })

const NO_TERMINAL =
  'Use --auto-approve, and use --allow for changes that --auto-approve does not permit. To see what would change, run `espalier plan`.'

/** The saved plan, if the first path ends in `.json`. */
const savedPlan = async (flags: ApplyFlags, { locate }: Io): Promise<SavedPlan | undefined> => {
  const [name = ''] = flags.paths
  return isPlanPath(name) ? readSavedPlan(name, locate(name)) : undefined
}

const refuseSelectionOfSavedPlan = (flags: ApplyFlags): void => {
  if (!isPlanPath(flags.paths[0] ?? '')) return
  for (const flag of ['project', 'branch', 'wave', 'introduced', 'base'] as const) {
    if (flags[flag] === undefined) continue
    throw usageError(`--${flag} cannot be combined with a saved plan, which already contains it.`, `Remove --${flag}.`)
  }
}

const manifestsFor = async (
  flags: ApplyFlags,
  selection: ReturnType<typeof selectionOf>,
  saved: SavedPlan | undefined,
  io: Io,
): Promise<Manifests> => {
  const paths = saved === undefined ? flags.paths : manifestPaths(saved, flags.paths.slice(1), io.cwd)
  if (flags.base !== undefined && flags.introduced !== true) {
    throw usageError('apply --base needs --introduced.', 'To see the introduced changes, run `espalier plan`.')
  }
  const manifests = await readReviewed(paths, io, flags)
  const isUnselected = saved !== undefined || hasErrors(manifests.loaded.diagnostics)
  return isUnselected ? manifests : select(manifests, selection, io.cwd)
}

const showPlan = (
  { plan, observed }: PlannedApply,
  given: ReadonlySet<Consent>,
  again: boolean,
  flags: ApplyFlags,
  io: Io,
): void => {
  if (again) {
    print(
      'The project has changed since the plan above was made, so it was not applied. This is the new plan:',
      io.stderr,
    )
  }
  printNote(selectionNote(plan), flags, io)
  // With --format json, the events contain the plan, so it is shown separately only if the user must confirm it.
  const isJson = flags.format === 'json'
  if (isJson && flags.autoApprove === true) return
  const stream = isJson ? io.stderr : io.stdout
  const shown = {
    takenAt: observed.takenAt,
    now: timeOf(io),
    overridesWindows: flags.now === true,
    allowed: given,
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
      const style = styleOf(io.stdout, outcome === undefined ? flags : afterSteps(flags, outcome), io.env)
      if (page !== undefined) await writeReport(page, planned, { events, outcome, complete: style.complete }, io)
      if (outcome !== undefined && progress !== undefined && !isQuiet) {
        print(terminalOutcome(plan, outcome, style, true), io.stdout)
      }
    },
  }
}

const NO_PROGRESS: Progress = { report: () => undefined, end: () => undefined }

/** A page that cannot be written causes only a warning, because the changes have already been made. */
const writeReport = async (write: WritePage, { plan, observed }: PlannedApply, run: PlanRun, io: Io): Promise<void> => {
  await write(({ planPage }, frame) => planPage(plan, { ...frame, observed, run })).catch((error: unknown) => {
    if (!(error instanceof EspalierError)) throw error
    print(`warning  ${error.code}  ${error.message}`, io.stderr)
  })
}
