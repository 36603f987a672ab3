import { EXIT, plainJson } from '../../base/index.ts'
import type { CostReport } from '../../cost/index.ts'
import { hasErrors } from '../../model/index.ts'
import { projectIds, unreadProjects } from '../../planner/index.ts'
import { costMarkdown, costTable } from '../../report/index.ts'
import { costLive } from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, formatFlag, HTML_FLAG, PATHS, READ_PROJECTS, usageError } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { checkGlobs, liveProjects } from '../setup/live-projects.ts'
import { ifAny, readManifests } from '../setup/manifests.ts'
import { openPageOf } from '../terminal/page-file.ts'
import { printProblems } from '../terminal/report-problems.ts'
import { print, tableStyle } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: PATHS,
  flags: {
    project: READ_PROJECTS,
    format: formatFlag('Output format', ['terminal', 'json', 'markdown']),
    ...HTML_FLAG,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 cost', 'Show the cost of the declared projects, most expensive first'],
    ['$0 cost --project quiet-river-12345678', 'Show the cost of a project, with or without a manifest'],
    ['$0 cost --html cost.html', 'Also write a page for any browser'],
  ],
  notes: `Exit codes:
  0   estimated
  1   an error, or a project cannot be read (the others are shown)`,
} as const satisfies Description

type CostFlags = ValuesOf<typeof DESCRIPTION>

export const costCommand = commandOf(DESCRIPTION, async (flags, io) => {
  if (flags.project !== undefined && flags.paths.length > 0) {
    throw usageError('--project and paths cannot be combined.')
  }
  checkGlobs('project', flags.project)
  const page = await openPageOf(flags, io)
  // With --project, manifests are optional: they give the prices and the lines that the advice is about.
  const isLive = flags.project !== undefined
  const found = isLive ? await ifAny(readManifests([], io)) : await readManifests(flags.paths, io, flags)
  const manifests = isLive && hasErrors(found?.loaded.diagnostics ?? []) ? undefined : found
  if (manifests !== undefined && hasErrors(manifests.loaded.diagnostics)) {
    printProblems(manifests.loaded.diagnostics, flags, io, manifests.loaded.lineOf)
    return EXIT.error
  }
  const { observed, report } = await withReadApi(flags, io, async (api) => {
    const projects =
      isLive || manifests === undefined
        ? (await liveProjects(api, flags.project ?? [])).ids
        : projectIds(manifests.loaded.desired)
    return costLive(api, projects, { clock: io.clock, ...(manifests && { manifests }) })
  })
  const unread = unreadProjects(observed)
  // If no project could be read, showing a total of 0 would be misleading.
  if (observed.projects.length > 0 || unread.length === 0) {
    print(textOf(report, flags, io), io.stdout)
    await page?.(({ costPage }, frame) => costPage(report, frame))
  }
  printProblems(
    unread.flatMap(({ diagnostics }) => diagnostics),
    flags,
    io,
    manifests?.loaded.lineOf,
  )
  return unread.length === 0 ? EXIT.ok : EXIT.error
})

const textOf = (report: CostReport, flags: CostFlags, io: Io): string => {
  if (flags.format === 'json') return plainJson(report, 2)
  if (flags.format === 'markdown') return costMarkdown(report)
  return costTable(report, tableStyle(io.stdout, flags, io.env))
}
