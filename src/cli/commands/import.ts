import { relative, resolve, sep } from 'node:path'
import type { OnReading, ReadApi } from '../../api/index.ts'
import {
  counted,
  defined,
  EspalierError,
  EXIT,
  type ExitCode,
  fileProblem,
  plainText,
  readIfExists,
  replaceFile,
  schemaAddress,
} from '../../base/index.ts'
import { type ExportOptions, isChosen, MAX_FILE_BYTES } from '../../manifest/index.ts'
import type { Observed, ObservedProject } from '../../model/index.ts'
import { type Adoption, adoptFile, nothingToImport, selectionWords } from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { withReadApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, IMPORTED_PROJECTS, text, toggle } from '../setup/flags.ts'
import {
  exportChecked,
  importProjects,
  observeOne,
  reportImported,
  reportNotes,
  reportOn,
} from '../setup/imported-manifest.ts'
import type { Io } from '../setup/io.ts'
import { checkGlobs, FOLDER, isGlob, liveProjects, visibleProjects } from '../setup/live-projects.ts'
import { printNote, printProblems } from '../terminal/report-problems.ts'
import { print } from '../terminal/terminal.ts'

const DESCRIPTION = {
  flags: {
    project: IMPORTED_PROJECTS,
    branch: text('', 'Limit to database branches whose name matches GLOB; repeatable', { value: 'GLOB', array: true }),
    pin: toggle('', 'Pin every added compute by its id'),
    out: text(
      '',
      'File to write or update (default: stdout). With several projects or a glob, the folder to write to (default: espalier)',
      { value: 'FILE' },
    ),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 import', 'Import all projects that the key can access: one to stdout, several to espalier/NAME.yaml'],
    ['$0 import --project shop --out espalier.yaml', 'Import one project, by its name or id'],
    ["$0 import --project 'shop*' --out fleet", 'Import several projects, each to its own file in fleet/'],
    ['$0 import --project shop --out fleet.yaml', 'Update an existing manifest'],
    ["$0 import --project shop --branch 'preview/*'", 'Print a manifest for the matching branches'],
  ],
  notes: `Common sizes and scale-to-zero times become \`defaults\`. Without --pin, rules declare
branches that seem short-lived, such as preview/1 and preview/2. stderr lists what was inferred.
A new manifest ends with a list of what is not managed, because manifests cannot express it.

If the file given with --out exists, missing computes are added to it, and values that differ are
set to the live values. Everything else is kept, including declared computes that are not live.

Exit codes:
  0   written
  1   an error, or a project could not be imported (the others are written)`,
} as const satisfies Description

type ImportFlags = ValuesOf<typeof DESCRIPTION>

const SCHEMA = schemaAddress('manifest')

/** Imports live projects. A manifest is written only if its plan against the same snapshot is empty. */
export const importCommand = commandOf(DESCRIPTION, async (flags, io) => {
  const { project: patterns, branch: branches } = flags
  checkGlobs('project', patterns)
  checkGlobs('branch', branches)
  return withReadApi(flags, io, async (api, onReading) => {
    const { ids, leftOut } =
      patterns === undefined
        ? { ids: (await visibleProjects(api)).map(({ id }) => id), leftOut: 0 }
        : await liveProjects(api, patterns)
    const [only, ...others] = ids
    const imported =
      only !== undefined && others.length === 0 && patterns?.some(isGlob) !== true
        ? await importOne(api, only, flags, io)
        : await importAll(api, ids, flags, onReading, io)
    if (leftOut > 0 || imported.leftOut > 0) {
      const counts = [[leftOut, 'project'] as const, [imported.leftOut, 'compute'] as const]
      const selection = defined({ projects: patterns, branches })
      printNote(selectionWords(selection, counts), flags, io)
    }
    return imported.code
  })
})

interface Imported {
  readonly code: ExitCode
  /** The number of computes on branches that were not selected. */
  readonly leftOut: number
}

const unchosen = ({ branches, computes }: ObservedProject, options: ExportOptions): number => {
  const chosen = new Set(branches.filter(({ name }) => isChosen(name, options)).map(({ id }) => id))
  return computes.filter(({ branchId }) => !chosen.has(branchId)).length
}

const importOne = async (api: ReadApi, id: string, flags: ImportFlags, io: Io): Promise<Imported> => {
  const { project, observed } = await observeOne(api, id)
  const options = exportOptions(flags)
  const leftOut = unchosen(project, options)
  const { out } = flags
  const present = (out === undefined ? undefined : await presentText(io.locate(out))) ?? ''
  if (out !== undefined && present.replace(/^\s*#.*$/gm, '').trim() !== '') {
    return { code: await importInto(out, present, project, observed, options, flags, io), leftOut }
  }
  const exported = exportChecked(project, options)
  if (exported.computes === 0) throw nothingToImport(flags.branch)
  if (out === undefined) print(exported.text, io.stdout)
  else await replaceFile(io.locate(out), withComments(present, exported.text), 'The manifest')
  reportNotes(exported, reportOn(io.stderr))
  print(`${counted(exported.computes, 'compute')} imported; the plan of this manifest is empty.`, io.stderr)
  return { code: EXIT.ok, leftOut }
}

/** Keeps the comments of a file that has nothing else. The schema that they name takes precedence. */
const withComments = (comments: string, manifest: string): string => {
  const [schema = '', ...rest] = manifest.split(/(?<=\n)/)
  const body = /^\s*#\s*yaml-language-server:/m.test(comments) ? rest : [schema, ...rest]
  return [comments.replace(/(?<=[^\n])$/, '\n'), ...body].join('')
}

const importAll = async (
  api: ReadApi,
  ids: readonly string[],
  flags: ImportFlags,
  onReading: OnReading,
  io: Io,
): Promise<Imported> => {
  const options = { ...exportOptions(flags), onReading }
  const imported = await importProjects(api, ids, flags.out ?? FOLDER, options, io)
  const isComplete = reportImported(imported, reportOn(io.stderr), flags, io)
  const leftOut = imported.files.reduce((sum, { project }) => sum + unchosen(project, options), 0)
  return { code: isComplete ? EXIT.ok : EXIT.error, leftOut }
}

const exportOptions = ({ branch: branches, pin }: ImportFlags): ExportOptions => ({
  ...defined({ branches }),
  pin: pin === true,
  schema: SCHEMA,
})

/** Adds live computes to the text of an existing file. */
const importInto = async (
  out: string,
  text: string,
  project: ObservedProject,
  observed: Observed,
  options: ExportOptions,
  flags: ImportFlags,
  io: Io,
): Promise<ExitCode> => {
  const path = relative(io.cwd, resolve(io.cwd, out)).split(sep).join('/')
  const result = await adoptFile({ path, text }, project, observed, options, io.cwd)
  if (result.kind === 'problems') {
    printProblems(result.diagnostics, flags, io, result.loaded.lineOf)
    return EXIT.error
  }
  if (result.isChanged) await replaceFile(io.locate(out), result.text, 'The manifest')
  const report = reportOn(io.stderr)
  reportNotes(result, report)
  for (const line of result.notLive) report('not live', `${line}: it is still declared, and apply will create it`)
  for (const line of result.toRename) report('renamed', `${line}: it is still declared, and apply will rename it`)
  const scope = options.branches === undefined ? '' : ' for these branches'
  const left = [
    ...(result.notLive.length === 0 ? [] : [`creates ${counted(result.notLive.length, 'compute')}`]),
    ...(result.toRename.length === 0 ? [] : [`renames ${counted(result.toRename.length, 'replica')}`]),
  ]
  const plans = left.length === 0 ? 'is empty' : left.join(' and ')
  print(`${plainText(out)}: ${newsOf(result)}; the plan of this manifest ${plans}${scope}.`, io.stderr)
  return EXIT.ok
}

const newsOf = ({ computes: { added, updated, inNewDocument } }: Adoption): string =>
  inNewDocument > 0
    ? `${counted(inNewDocument, 'compute')} in a separate document`
    : `${counted(added, 'compute')} added, ${counted(updated, 'value')} updated`

const presentText = async (file: string): Promise<string | undefined> =>
  readIfExists(file, MAX_FILE_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_OUT', `The manifest cannot be written to ${plainText(file)}: ${fileProblem(cause)}.`, {
      hint: 'Name a file: --out espalier.yaml',
      cause,
    })
  })
