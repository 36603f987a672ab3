import { EXIT, type ExitCode, hasErrors } from '../../model/index.ts'
import { whoMoved } from '../../planner/index.ts'
import { jsonDrift, terminalDrift } from '../../report/index.ts'
import { manifestsAt, planLive, planOfBase, select, selectionNote } from '../../workflow/index.ts'
import { STDIN } from '../command.ts'
import type { DriftFlags } from '../commands/drift.ts'
import { withReadApi } from '../connect.ts'
import { withOperations } from '../drift-operations.ts'
import { usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { printNote, reportLeftOut, reportProblems } from '../report-problems.ts'
import { print, styleOf } from '../terminal.ts'

export const runDrift = async (flags: DriftFlags, io: Io): Promise<ExitCode> => {
  if (flags.paths.includes(STDIN)) throw usageError('drift compares files with git, so it cannot read - (stdin).')
  const manifests = await readManifests(flags.paths, io)
  const base = await manifestsAt(flags.base, manifests, { cwd: io.cwd })
  for (const { loaded, paths } of [manifests, base]) {
    if (paths.length === 0 || !hasErrors(loaded.diagnostics)) continue
    reportProblems(loaded.diagnostics, loaded, flags, io)
    return EXIT.error
  }
  const selected = await select(manifests, { projects: flags.project, branches: flags.branch }, io.cwd)
  return withReadApi(flags, io, async (api, onReading) => {
    const { observed, result } = await planLive(api, selected, { estimate: false, onReading })
    const { plan } = result
    if (!result.ok && plan.projects.length === 0) {
      reportProblems(result.diagnostics, manifests.loaded, flags, io)
      return EXIT.error
    }
    const moved = whoMoved(planOfBase(base, plan.projects, observed), plan)
    const differences = await withOperations(api, moved, observed, onReading)
    const context = { ref: flags.base, takenAt: observed.takenAt, now: io.clock.date(), plan }
    print(
      flags.format === 'json'
        ? jsonDrift(differences, context)
        : terminalDrift(differences, context, styleOf(io.stdout, flags, io.env)),
      io.stdout,
    )
    printNote(selectionNote(plan), io)
    if (!result.ok) {
      if (flags.format === 'terminal') reportProblems(result.diagnostics, manifests.loaded, flags, io)
      reportLeftOut(plan, io)
      return EXIT.error
    }
    return differences.some(({ mover }) => mover !== 'manifest') ? EXIT.changes : EXIT.ok
  })
}
