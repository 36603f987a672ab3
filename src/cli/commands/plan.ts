import { jsonPlan } from '../../apply/index.ts'
import {
  commitOf,
  counted,
  DEFAULT_CONCURRENCY,
  defined,
  EXIT,
  PRIVATE,
  replaceFile,
  shellWord,
} from '../../base/index.ts'
import { hasErrors, isEmptyPlan, type Origin, type Plan, unknownSettlement } from '../../model/index.ts'
import { ageOf, markdownPlan, terminalOutcome, terminalPlan } from '../../report/index.ts'
import {
  checkOverrides,
  encodeSavedPlan,
  type Manifests,
  manifestsAt,
  type Planned,
  planLive,
  planRecorded,
  readSnapshot,
  rehearse,
  select,
  selectionNote,
} from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import {
  CONNECTION_FLAGS,
  EXIT_ERROR,
  formatFlag,
  HTML_FLAG,
  PATHS,
  PLAN_VIEW_FLAGS,
  PLANNING_FLAGS,
  selectionOf,
  text,
  toggle,
  usageError,
} from '../setup/flags.ts'
import { type Io, timeOf } from '../setup/io.ts'
import { readReviewed } from '../setup/manifests.ts'
import { completeCommands, isPlanPath } from '../setup/suggested-commands.ts'
import { openPageOf } from '../terminal/page-file.ts'
import { printNote, printProblems, reportLeftOut, reportProblems } from '../terminal/report-problems.ts'
import { print, styleOf } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: PATHS,
  flags: {
    format: formatFlag('Output format', ['terminal', 'json', 'markdown']),
    out: text('Output:', 'Save the plan to FILE, so that espalier apply FILE can apply it', { value: 'FILE' }),
    ...HTML_FLAG,
    live: text('Control API:', 'Plan offline, against the snapshot in FILE instead of the live projects', {
      value: 'FILE',
    }),
    base: text('Output:', 'Show changes since git ref REF separately from existing drift', {
      value: 'REF',
    }),
    rehearse: toggle('Output:', 'Also apply the plan to a copy of the projects in a sandbox that injects faults'),
    'detailed-exitcode': toggle(
      'Output:',
      'Exit with 2 if there are changes, or if a failed operation left a compute unsettled',
    ),
    ...PLAN_VIEW_FLAGS,
    ...PLANNING_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 plan', 'Compare the manifests with the live projects'],
    ['$0 plan --out plan.json', 'Save the plan so that exactly this plan can be applied later'],
    ['$0 plan --detailed-exitcode', 'For scripts: exit with 2 if there are changes'],
    ['$0 plan --live live.json', 'Plan from a snapshot, without network access or an API key'],
    ['$0 plan --base origin/main', 'Separate the changes since origin/main from existing drift'],
    ['$0 plan --base origin/main --introduced', 'Plan only the changes since origin/main'],
    ["$0 plan --project 'shop*' --branch main", 'Plan only some projects and branches'],
    ['$0 plan --rehearse', 'Also try the plan on a copy in a sandbox'],
    ['$0 plan --format markdown', 'Print the plan as Markdown, for a pull request'],
    ['$0 plan --html plan.html', 'Also write a page to review in a browser'],
    ['$0 plan --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `Exit codes:
  0   planned; with --detailed-exitcode, only if there are no changes
  ${EXIT_ERROR},
      or a policy denies a change, a project cannot be planned (the others are shown), or
      --rehearse fails
  2   with --detailed-exitcode: there are changes, or a compute is unsettled`,
} as const satisfies Description

type PlanFlags = ValuesOf<typeof DESCRIPTION>

export const planCommand = commandOf(DESCRIPTION, async (flags, io) => {
  if (flags.out !== undefined && !isPlanPath(flags.out)) {
    throw usageError(`--out ${flags.out} does not end in .json, by which apply recognizes a saved plan.`)
  }
  // The page is opened first, so that the command fails before it reads anything.
  const page = await openPageOf(flags, io)
  const manifests = await readReviewed(flags.paths, io, flags)
  const { loaded } = manifests
  if (hasErrors(loaded.diagnostics)) {
    reportProblems(loaded.diagnostics, loaded, flags, io)
    return EXIT.error
  }
  // This happens before any request, because a ref that does not exist is a usage error.
  const base = flags.base === undefined ? undefined : await readBase(flags.base, manifests, flags, io)
  checkOverrides(manifests, base?.manifests)
  const selected = await select(manifests, selectionOf(flags), io.cwd)
  const planned = await planWithFlags(selected, flags, base?.manifests, io)
  const { result, comparison } = planned
  if (!result.ok && result.plan.projects.length === 0) {
    reportProblems([...loaded.diagnostics, ...result.diagnostics], loaded, flags, io)
    return EXIT.error
  }
  // The plan does not contain the warnings about manifests, so they are shown separately.
  if (loaded.diagnostics.length > 0 && flags.format === 'terminal') {
    reportProblems(loaded.diagnostics, loaded, flags, io)
  }
  const { plan } = result
  const since = base && comparison && { ...base, origin: comparison.origin }
  print(render(plan, planned, flags, since, io), io.stdout)
  if (flags.out !== undefined) await save(flags.out, planned, flags, io)
  const { observed } = planned
  const { takenAt } = observed
  await page?.(({ planPage }, frame) => {
    const age = flags.live && ageOf(takenAt, io.clock.date())
    return planPage(plan, { ...frame, observed, takenAt, ...defined({ age, since }) })
  })
  printNote(selectionNote(plan), flags, io)
  if (flags.detail === true) printNote(unknownSettlement(observed.projects), flags, io)
  const isComplete = reportLeftOut(plan, io)
  if (flags.rehearse === true && !(await isRehearsed(planned, flags, io))) return EXIT.error
  if (!isComplete) return EXIT.error
  if (plan.policies?.results.some(({ outcome }) => outcome === 'denied')) return EXIT.error
  const isUnsettled = plan.warnings.some(({ code }) => code === 'W_UNSETTLED')
  return flags.detailedExitcode === true && (isUnsettled || !isEmptyPlan(plan)) ? EXIT.changes : EXIT.ok
})

const planWithFlags = async (
  manifests: Manifests,
  flags: PlanFlags,
  base: Manifests | undefined,
  io: Io,
): Promise<Planned> => {
  if (flags.live !== undefined) {
    const planned = await planRecorded(await readSnapshot(io.locate(flags.live)), manifests, { base })
    printNote(
      `Planned against the snapshot ${flags.live}, which is ${ageOf(planned.observed.takenAt, io.clock.date())} old.`,
      flags,
      io,
    )
    return planned
  }
  return withReadApi(flags, io, (api, onReading) =>
    planLive(api, manifests, {
      concurrency: DEFAULT_CONCURRENCY,
      clock: io.clock,
      base,
      onReading,
    }),
  )
}

/** Rehearses the plan, and reports the result on stderr, because stdout must contain only the plan. */
const isRehearsed = async (planned: Planned, flags: PlanFlags, io: Io): Promise<boolean> => {
  const { plan } = planned.result
  if (isEmptyPlan(plan)) return true
  const { outcome, isGood } = await rehearse(planned, io.clock)
  if (isGood) {
    print(
      `Rehearsed  ${counted(plan.steps.length, 'step')} done on a sandbox, in spite of injected faults: a lock, a slow operation and a failed operation. A new plan is empty.`,
      io.stderr,
    )
    return true
  }
  print(terminalOutcome(plan, outcome, styleOf(io.stderr, flags, io.env)), io.stderr)
  print('Rehearsed  The plan could not be completed on the sandbox. No live project was changed.', io.stderr)
  return false
}

interface Base {
  readonly ref: string
  readonly commit: string
  readonly manifests: Manifests
}

type Since = Base & { readonly origin: Origin }

const readBase = async (ref: string, manifests: Manifests, flags: PlanFlags, io: Io): Promise<Base> => {
  const base = await manifestsAt(ref, manifests, { cwd: io.cwd })
  if (base.paths.length > 0 && hasErrors(base.loaded.diagnostics)) {
    printNote(`The manifests at ${ref} have errors:`, flags, io)
    printProblems(base.loaded.diagnostics, flags, io, base.loaded.lineOf)
  }
  return { ref, commit: await commitOf(io.cwd, ref), manifests: base }
}

const render = (plan: Plan, { observed }: Planned, flags: PlanFlags, since: Since | undefined, io: Io): string => {
  if (flags.format === 'json') {
    const origin = since && { base: since.commit, ...since.origin }
    return jsonPlan(plan, defined({ origin }))
  }
  if (flags.format === 'markdown') return markdownPlan(plan, defined({ since }))
  return terminalPlan(plan, styleOf(io.stdout, flags, io.env), {
    takenAt: observed.takenAt,
    now: timeOf(io),
    detail: flags.detail,
    ...defined({ since }),
  })
}

const save = async (file: string, planned: Planned, flags: PlanFlags, io: Io): Promise<void> => {
  await replaceFile(io.locate(file), encodeSavedPlan(planned), 'The plan', PRIVATE)
  const next = `To apply exactly this plan, run \`espalier apply ${shellWord(file)}\`.`
  print(`Saved to ${file}. ${completeCommands(next, flags.invocation)}`, io.stderr)
}
