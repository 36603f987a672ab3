import { countReads, type OnReading, type Operation, optionalRead, type ReadApi } from '../../api/index.ts'
import { EXIT, groupBy, mapConcurrently } from '../../base/index.ts'
import { type Change, type Difference, hasErrors, isDrift, type Observed } from '../../model/index.ts'
import { whoMoved } from '../../planner/index.ts'
import { jsonDrift, terminalDrift } from '../../report/index.ts'
import { manifestsAt, planLive, planOfBase, select, selectionNote } from '../../workflow/index.ts'
import { commandOf, type Description, STDIN } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, EXIT_ERROR, formatFlag, PATHS, SELECTION_FLAGS, text, usageError } from '../setup/flags.ts'
import { readManifests } from '../setup/manifests.ts'
import { printNote, printProblems, reportLeftOut, reportProblems } from '../terminal/report-problems.ts'
import { print, styleOf } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: {
    paths: { ...PATHS.paths, describe: 'Manifests: files, directories or globs (default: espalier.yaml or espalier/)' },
  },
  flags: {
    base: text('', 'Git ref at which the manifests matched the live projects', { value: 'REF', default: 'HEAD' }),
    format: formatFlag('Output format', ['terminal', 'json']),
    ...SELECTION_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 drift', 'Show changes made outside the manifests since the last commit'],
    ['$0 drift --base v1.4', 'Show changes made outside the manifests since a release'],
  ],
  notes: `Exit codes:
  0   no live project changed
  ${EXIT_ERROR},
      or a project cannot be planned (the others are shown)
  2   a live project changed, or a failed operation left a compute unsettled`,
} as const satisfies Description

export const driftCommand = commandOf(DESCRIPTION, async (flags, io) => {
  if (flags.paths.includes(STDIN))
    throw usageError(
      'drift compares files with git, so it cannot read - (stdin).',
      'Name a file or folder in the repository.',
    )
  const manifests = await readManifests(flags.paths, io, flags)
  const base = await manifestsAt(flags.base, manifests, { cwd: io.cwd })
  for (const { loaded, paths } of [manifests, base]) {
    if (paths.length === 0 || !hasErrors(loaded.diagnostics)) continue
    reportProblems(loaded.diagnostics, loaded, flags, io)
    return EXIT.error
  }
  const selected = await select(manifests, { projects: flags.project, branches: flags.branch }, io.cwd)
  return withReadApi(flags, io, async (api, onReading) => {
    const { observed, result } = await planLive(api, selected, { clock: io.clock, onReading })
    const { plan } = result
    if (!result.ok && plan.projects.length === 0) {
      reportProblems(result.diagnostics, manifests.loaded, flags, io)
      return EXIT.error
    }
    const moved = whoMoved(planOfBase(base, plan.projects, observed), plan)
    const differences = await withOperations(api, moved, observed, onReading)
    const unsettled = plan.warnings.filter(({ code }) => code === 'W_UNSETTLED')
    const context = { ref: flags.base, takenAt: observed.takenAt, now: io.clock.date(), plan, unsettled }
    print(
      flags.format === 'json'
        ? jsonDrift(differences, context)
        : terminalDrift(differences, context, styleOf(io.stdout, flags, io.env)),
      io.stdout,
    )
    if (flags.format === 'terminal') printProblems(unsettled, flags, io)
    printNote(selectionNote(plan), flags, io)
    if (!result.ok) {
      if (flags.format === 'terminal') reportProblems(result.diagnostics, manifests.loaded, flags, io)
      reportLeftOut(plan, io)
      return EXIT.error
    }
    return differences.some(isDrift) || unsettled.length > 0 ? EXIT.changes : EXIT.ok
  })
})

// Finds the operation that probably caused each drift. This is the newest operation that could have caused it.

/** How many operations to read for each project with drift. They are read in one request. */
const NEWEST = 200
const AT_ONCE = 8

/** If the operations of a project cannot be read, its differences are shown without them. */
const withOperations = async (
  api: ReadApi,
  differences: readonly Difference[],
  { projects }: Observed,
  onReading?: OnReading,
): Promise<readonly Difference[]> => {
  const drifted = groupBy(differences.filter(isDrift), ({ change }) => change.project)
  const counted = countReads('past operations', drifted.size, onReading)
  const operations = new Map(
    await mapConcurrently(
      [...drifted.keys()],
      AT_ONCE,
      async (project) => [project, await counted(newest(api, project))] as const,
    ),
  )
  const live = new Set(projects.flatMap(({ computes }) => computes.map(({ id }) => id)))
  return differences.map((difference) => {
    const { change } = difference
    const own = isDrift(difference) ? operations.get(change.project)?.find(concerns(change, live)) : undefined
    if (own?.endpointId === undefined) return difference
    const { id, action, createdAt, endpointId } = own
    return { ...difference, lastOperation: { id, action, createdAt, computeId: endpointId } }
  })
}

const newest = async (api: ReadApi, project: string): Promise<readonly Operation[]> =>
  (await optionalRead(api.listOperations(project, { limit: NEWEST })))?.operations ?? []

/** A delete or move starts no operation. For a deleted compute, its last operation is shown instead. */
const concerns =
  ({ kind, compute, branch }: Change, live: ReadonlySet<string>) =>
  ({ action, endpointId, branchId }: Operation): boolean => {
    if (kind === 'create') return endpointId !== undefined && branchId === branch.id && !live.has(endpointId)
    return kind === 'update' && endpointId === compute.id && action === 'apply_config'
  }
