import type { CostReport } from '../../cost/index.ts'
import { EXIT, type ExitCode, hasErrors, plainJson } from '../../model/index.ts'
import { projectIds, unreadProjects } from '../../planner/index.ts'
import { costMarkdown, costTable } from '../../report/index.ts'
import { costLive } from '../../workflow/index.ts'
import type { CostFlags } from '../commands/cost.ts'
import { withReadApi } from '../connect.ts'
import { usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { checkGlobs, liveProjects } from '../live-projects.ts'
import { readManifests } from '../manifests.ts'
import { openPageOf, PAGE_FRAME } from '../page-file.ts'
import { printProblems } from '../report-problems.ts'
import { print, tableStyle } from '../terminal.ts'

export const runCost = async (flags: CostFlags, io: Io): Promise<ExitCode> => {
  if (flags.project !== undefined && flags.paths.length > 0) {
    throw usageError('--project and paths cannot be combined.')
  }
  checkGlobs('project', flags.project)
  const page = await openPageOf(flags, io)
  const manifests = flags.project === undefined ? await readManifests(flags.paths, io) : undefined
  if (manifests !== undefined && hasErrors(manifests.loaded.diagnostics)) {
    printProblems(manifests.loaded.diagnostics, flags, io, manifests.loaded.lineOf)
    return EXIT.error
  }
  const { observed, report } = await withReadApi(flags, io, async (api) => {
    const projects =
      manifests === undefined
        ? (await liveProjects(api, flags.project ?? [])).ids
        : projectIds(manifests.loaded.desired)
    return costLive(api, projects, { ...(manifests && { manifests }) })
  })
  const unread = unreadProjects(observed)
  // If no project could be read, showing a total of 0 would be misleading.
  if (observed.projects.length > 0 || unread.length === 0) {
    print(textOf(report, flags, io), io.stdout)
    if (page !== undefined) {
      const { costPage } = await import('../../report/html/index.ts')
      await page(costPage(report, PAGE_FRAME))
    }
  }
  for (const { diagnostics } of unread) printProblems(diagnostics, flags, io, manifests?.loaded.lineOf)
  return unread.length === 0 ? EXIT.ok : EXIT.error
}

const textOf = (report: CostReport, flags: CostFlags, io: Io): string => {
  if (flags.format === 'json') return plainJson(report, 2)
  if (flags.format === 'markdown') return costMarkdown(report)
  return costTable(report, tableStyle(io.stdout, flags, io.env))
}
