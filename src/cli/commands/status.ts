import {
  type OnReading,
  operationsReader,
  optionalRead,
  type ReadApi,
  snapshot,
  withSettlements,
} from '../../api/index.ts'
import { compare, defined, EXIT, type ExitCode, plainJson } from '../../base/index.ts'
import {
  hasErrors,
  type Observed,
  type Plan,
  type Selection,
  unsettledIn,
  unsettledWarning,
} from '../../model/index.ts'
import { projectIds, unreadProjects } from '../../planner/index.ts'
import { statusesOf, statusTable, terminalDiagnostics } from '../../report/index.ts'
import {
  branchMatcher,
  type Manifests,
  matchingProjects,
  namesOf,
  planLive,
  select,
  selectionWords,
  withNames,
} from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, formatFlag, PATHS, SELECTION_FLAGS, toggle } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { checkGlobs, liveProjects, undeclaredNote } from '../setup/live-projects.ts'
import { ifAny, readManifests } from '../setup/manifests.ts'
import { printNote, printProblems } from '../terminal/report-problems.ts'
import { print, styleOf, tableStyle } from '../terminal/terminal.ts'
import { untilInterrupted, watchScreen } from '../terminal/watch.ts'

const DESCRIPTION = {
  positionals: PATHS,
  flags: {
    format: formatFlag('Output format; wide shows all columns, and name shows only ids', [
      'terminal',
      'wide',
      'json',
      'name',
    ]),
    watch: toggle('Output:', 'Refresh the list every 5 seconds, until Ctrl-C is pressed'),
    ...SELECTION_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 status', 'List the computes of all declared projects'],
    ["$0 status --project 'shop*' --branch main", 'List only some projects and branches'],
    ['$0 status --project shop', 'List a project by its name or id, even if no manifest declares it'],
    ['$0 status --watch', 'Refresh the list every 5 seconds'],
    ['$0 status -o wide', 'Show all columns, including hosts'],
  ],
  notes: `The SYNC column compares each compute with the manifests:
  in sync     a manifest declares it, and it matches
  differs     a plan contains a change to it
  unmanaged   no manifest declares it, and it will not be pruned
  unknown     no plan can be made for its project, or a manifest has errors; the output says why

With --project, manifests are optional. Undeclared projects have no SYNC.

On a terminal without -o wide, columns that do not fit are left out.

Exit codes:
  0   listed
  1   an error, or a project cannot be read or planned (others are listed)`,
} as const satisfies Description

type StatusFlags = ValuesOf<typeof DESCRIPTION>

interface Seen {
  readonly observed: Observed
  /** Absent if manifests were not read, or if they have errors. */
  readonly plan?: Plan
  /** How many projects and computes the selection excludes. */
  readonly leftOut: { readonly projects: number; readonly computes: number }
}

type See = (api: ReadApi, onReading?: OnReading) => Promise<Seen>

export const statusCommand = commandOf(DESCRIPTION, async (flags, io) => {
  checkGlobs('project', flags.project)
  checkGlobs('branch', flags.branch)
  const manifests = await manifestsOf(flags, io)
  const isBroken = manifests !== undefined && hasErrors(manifests.loaded.diagnostics)
  if (isBroken) printProblems(manifests.loaded.diagnostics, flags, io, manifests.loaded.lineOf)
  if (isBroken && flags.project === undefined && projectIds(manifests.loaded.desired).length === 0) return EXIT.error
  return withReadApi(flags, io, async (api, onReading) => {
    const see = await seeing(api, manifests, isBroken, flags, io)
    let code: ExitCode = EXIT.ok
    const read = async (progress?: OnReading): Promise<Seen> => {
      const seen = byName(ofBranches(await see(api, progress), flags.branch))
      code = isBroken || problemsIn(seen).length > 0 ? EXIT.error : EXIT.ok
      return seen
    }
    const shown = { ...flags, isBroken, lineOf: manifests?.loaded.lineOf ?? (() => undefined) }
    if (flags.watch !== true) {
      const [seen, note] = await Promise.all([read(onReading), noteOf(api, manifests, flags)])
      show(seen, shown, io)
      printNote(note, flags, io)
    } else if (isTable(flags)) {
      const draw = (seen: Seen): string => `${textOf(seen, shown, io)}\n${problemsOf(seen, shown, io)}`
      await watchScreen({ command: 'status', read, draw }, io)
    } else await untilInterrupted(async () => show(await read(), shown, io), io)
    return code
  })
})

const isTable = ({ format }: StatusFlags): boolean => format === 'terminal' || format === 'wide'

/** Reads the manifests. If `--project` is given without paths, there need not be any manifests. */
const manifestsOf = async (flags: StatusFlags, io: Io): Promise<Manifests | undefined> => {
  const manifests = readManifests(flags.paths, io, flags)
  return flags.project !== undefined && flags.paths.length === 0 ? ifAny(manifests) : manifests
}

/** Undeclared projects are only reported if the command lists all projects that the current folder declares. */
const noteOf = async (
  api: ReadApi,
  manifests: Manifests | undefined,
  flags: StatusFlags,
): Promise<string | undefined> => {
  const isAll = flags.paths.length === 0 && flags.project === undefined && flags.branch === undefined
  return isAll && isTable(flags) && manifests !== undefined ? optionalRead(undeclaredNote(api, manifests)) : undefined
}

/** Decides what to read: the declared projects, with a plan if possible, and other projects that the key can access. */
const seeing = async (
  api: ReadApi,
  manifests: Manifests | undefined,
  isBroken: boolean,
  { paths, project: patterns }: StatusFlags,
  io: Io,
): Promise<See> => {
  const declared = manifests === undefined ? [] : projectIds(manifests.loaded.desired)
  const reader = operationsReader()
  const projects = await withNames(patterns ?? [], declared, (ids) => namesOf(api, ids, {}))
  const isPlanned = manifests !== undefined && !isBroken
  // Paths choose what is listed, so every pattern must match one of their projects.
  const isDeclared = (pattern: string): boolean =>
    (isPlanned && paths.length > 0) || matchingProjects(pattern, projects).length > 0
  const [own, others] = [patterns?.filter(isDeclared), patterns?.filter((one) => !isDeclared(one)) ?? []]
  const live = others.length === 0 ? { ids: [], leftOut: 0 } : await liveProjects(api, others, patterns?.length === 1)
  const readLive = async (read: ReadApi, ids: readonly string[], onReading?: OnReading): Promise<Observed> =>
    withSettlements(read, await snapshot(read, ids, { clock: io.clock, onReading }), reader)
  if (isPlanned && own?.length !== 0) {
    const selected = await select(manifests, { projects: own }, io.cwd)
    return async (read, onReading) => {
      const { observed, result } = await planLive(read, selected, { reader, clock: io.clock, onReading })
      const more = live.ids.length === 0 ? undefined : await readLive(read, live.ids, onReading)
      const leftOut = { projects: result.plan.selection?.leftOut.projects ?? 0, computes: 0 }
      return { observed: more === undefined ? observed : joined(observed, more), plan: result.plan, leftOut }
    }
  }
  const chosen = [...new Set(own?.flatMap((pattern) => matchingProjects(pattern, projects)) ?? declared)]
  const leftOut = {
    projects: others.length > 0 ? Math.max(0, live.leftOut - chosen.length) : declared.length - chosen.length,
    computes: 0,
  }
  return async (read, onReading) => ({
    observed: await readLive(read, [...new Set([...chosen, ...live.ids])], onReading),
    leftOut,
  })
}

/** A project that two patterns name by its name and by its id is listed once. */
const joined = (observed: Observed, more: Observed): Observed => {
  const known = new Set(observed.projects.map(({ id }) => id))
  return {
    ...observed,
    projects: [...observed.projects, ...more.projects.filter(({ id }) => !known.has(id))],
    missing: [...observed.missing, ...more.missing],
    unreadable: [...(observed.unreadable ?? []), ...(more.unreadable ?? [])],
  }
}

/** Sorts projects by name, as plans do. */
const byName = (seen: Seen): Seen => {
  const projects = seen.observed.projects.toSorted((a, b) => compare(a.name ?? a.id, b.name ?? b.id))
  return { ...seen, observed: { ...seen.observed, projects } }
}

const ofBranches = (seen: Seen, patterns: readonly string[] | undefined): Seen => {
  if (patterns === undefined) return seen
  const { observed, plan, leftOut } = seen
  const isChosen = branchMatcher(patterns, observed)
  const projects = observed.projects.flatMap((project) => {
    const branches = project.branches.filter(isChosen)
    const ids = new Set(branches.map(({ id }) => id))
    const computes = project.computes.filter(({ branchId }) => ids.has(branchId))
    return branches.length === 0 ? [] : [{ ...project, branches, computes }]
  })
  const count = (all: Observed['projects']): number => all.reduce((sum, { computes }) => sum + computes.length, 0)
  return {
    observed: { ...observed, projects },
    ...(plan && { plan: { ...plan, changes: plan.changes.filter(({ branch }) => isChosen(branch)) } }),
    leftOut: { ...leftOut, computes: count(observed.projects) - count(projects) },
  }
}

const problemsIn = ({ observed, plan }: Seen) => {
  const leftOut = plan?.leftOut ?? []
  const known = new Set(leftOut.map(({ project }) => project))
  return [...leftOut, ...unreadProjects(observed).filter(({ project }) => !known.has(project))]
}

interface Shown extends StatusFlags {
  readonly isBroken: boolean
  readonly lineOf: Manifests['loaded']['lineOf']
}

const show = (seen: Seen, flags: Shown, io: Io): void => {
  print(textOf(seen, flags, io), io.stdout)
  print(problemsOf(seen, flags, io), io.stderr)
}

const textOf = (seen: Seen, flags: Shown, io: Io): string => {
  const { observed, plan } = seen
  const context = {
    now: io.clock.date(),
    ...defined({ plan, isUnknown: flags.isBroken || undefined }),
  }
  if (isTable(flags)) {
    return statusTable(observed.projects, context, tableStyle(io.stdout, flags, io.env), flags.format === 'wide')
  }
  const computes = statusesOf(observed.projects, context)
  if (flags.format === 'name') return computes.map(({ id }) => id).join('\n')
  const leftOut = problemsIn(seen)
  const problems = leftOut.length === 0 ? {} : { leftOut }
  return plainJson({ takenAt: observed.takenAt, computes, missing: observed.missing, ...problems }, 2)
}

/** Says what the table leaves out, and why. */
const problemsOf = (seen: Seen, flags: Shown, io: Io): string => {
  const style = styleOf(io.stderr, flags, io.env)
  const { project: projects, branch: branches, isBroken, lineOf } = flags
  const selection: Selection = defined({ projects, branches })
  const { leftOut } = seen
  return [
    terminalDiagnostics(
      problemsIn(seen).flatMap(({ diagnostics }) => diagnostics),
      style,
      lineOf,
    ),
    terminalDiagnostics(unsettledIn(seen.observed.projects).map(unsettledWarning), style, lineOf),
    ...(isBroken ? ['Note  SYNC is unknown until the errors in the manifests are corrected.\n'] : []),
    ...(leftOut.projects + leftOut.computes === 0
      ? []
      : [
          `Note  ${selectionWords(selection, [
            [leftOut.projects, 'project'],
            [leftOut.computes, 'compute'],
          ])}\n`,
        ]),
  ].join('')
}
