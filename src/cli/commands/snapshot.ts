import { type ReadApi, snapshot, withOperations } from '../../api/index.ts'
import { DEFAULT_CONCURRENCY, EXIT, mapConcurrently, PRIVATE, replaceFile, shellWord } from '../../base/index.ts'
import { hasErrors } from '../../model/index.ts'
import { projectIds, unreadProjects } from '../../planner/index.ts'
import { encodeSnapshot, selectionWords } from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, PATHS, READ_PROJECTS, text, usageError } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { checkGlobs, liveProjects } from '../setup/live-projects.ts'
import { readManifests } from '../setup/manifests.ts'
import { completeCommands } from '../setup/suggested-commands.ts'
import { printNote, printProblems } from '../terminal/report-problems.ts'
import { print } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: PATHS,
  flags: {
    out: text('', 'File to write', { value: 'FILE', demandOption: true }),
    project: READ_PROJECTS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 snapshot --out live.json', 'Save all declared projects'],
    ['$0 plan --live live.json', 'Plan from that file, without network access or a key'],
  ],
  notes: `Exit codes:
  0   saved
  1   an error, or a project cannot be read (the others are saved)`,
} as const satisfies Description

type SnapshotFlags = ValuesOf<typeof DESCRIPTION>

/** Writes a snapshot. It includes past operations, so that plans made from it can have estimates. */
export const snapshotCommand = commandOf(DESCRIPTION, async (flags, io) => {
  if (flags.project !== undefined && flags.paths.length > 0) {
    throw usageError('--project and paths cannot be combined.')
  }
  checkGlobs('project', flags.project)
  const declared = flags.project === undefined ? await declaredProjects(flags, io) : []
  if (declared === undefined) return EXIT.error
  return withReadApi(flags, io, async (api, onReading) => {
    const projects = flags.project === undefined ? declared : await named(api, flags.project, flags, io)
    const seen = await snapshot(api, projects, { clock: io.clock, onReading })
    const withPast = await mapConcurrently(seen.projects, DEFAULT_CONCURRENCY, (project) =>
      withOperations(api, project),
    )
    await replaceFile(io.locate(flags.out), encodeSnapshot({ ...seen, projects: withPast }), 'The snapshot', PRIVATE)
    const next = `To plan from it, run \`espalier plan --live ${shellWord(flags.out)}\`.`
    print(`Saved to ${flags.out}. ${completeCommands(next, flags.invocation)}`, io.stderr)
    const unread = unreadProjects(seen).flatMap(({ diagnostics }) => diagnostics)
    if (unread.length > 0) printProblems(unread, flags, io)
    return unread.length > 0 ? EXIT.error : EXIT.ok
  })
})

const named = async (
  api: ReadApi,
  projects: readonly string[],
  flags: SnapshotFlags,
  io: Io,
): Promise<readonly string[]> => {
  const { ids, leftOut } = await liveProjects(api, projects)
  if (leftOut > 0) printNote(selectionWords({ projects }, [[leftOut, 'project']]), flags, io)
  return ids
}

const declaredProjects = async (flags: SnapshotFlags, io: Io): Promise<readonly string[] | undefined> => {
  const { loaded } = await readManifests(flags.paths, io, flags)
  if (!hasErrors(loaded.diagnostics)) return projectIds(loaded.desired)
  printProblems(loaded.diagnostics, flags, io, loaded.lineOf)
  return undefined
}
