import type { OnReading, ReadApi } from '../../api/index.ts'
import { replaceFile } from '../../base/index.ts'
import { type ExportOptions, isChosen } from '../../manifest/index.ts'
import { EXIT, type ExitCode, type ObservedProject, schemaAddress } from '../../model/index.ts'
import { counted, plainText } from '../../report/index.ts'
import { nothingToImport, selectionWords } from '../../workflow/index.ts'
import type { ImportFlags } from '../commands/import.ts'
import { withReadApi } from '../connect.ts'
import { importProjects } from '../import-projects.ts'
import { exportChecked, observeOne } from '../imported-manifest.ts'
import type { Io } from '../io.ts'
import { checkGlobs, isGlob, liveProjects, visibleProjects } from '../live-projects.ts'
import { printError } from '../print-error.ts'
import { NO_FILES, reportProblems } from '../report-problems.ts'
import { print, styleOf } from '../terminal.ts'
import { importInto } from './import-into.ts'

const SCHEMA = schemaAddress('manifest')
const FOLDER = 'espalier'

/** Writes only manifests whose plan against the same snapshot is empty. */
export const runImport = async (flags: ImportFlags, io: Io): Promise<ExitCode> => {
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
      only !== undefined && others.length === 0 && flags.all !== true && patterns?.some(isGlob) !== true
        ? await importOne(api, only, flags, io)
        : await importAll(api, ids, flags, onReading, io)
    if (leftOut > 0 || imported.leftOut > 0) {
      const counts = [[leftOut, 'project'] as const, [imported.leftOut, 'compute'] as const]
      print(
        `Note  ${selectionWords({ ...given('projects', patterns), ...given('branches', branches) }, counts)}`,
        io.stderr,
      )
    }
    return imported.code
  })
}

const given = <K extends string>(name: K, patterns: readonly string[] | undefined) =>
  (patterns === undefined ? {} : { [name]: patterns }) as Partial<Record<K, readonly string[]>>

interface Imported {
  readonly code: ExitCode
  /** Computes on branches that were not selected. */
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
  const { out, noColor } = flags
  const merged = out === undefined ? undefined : await importInto({ out, noColor }, project, observed, options, io)
  if (merged !== undefined) return { code: merged, leftOut }
  const exported = exportChecked(project, observed, options)
  if (exported.computes === 0) throw nothingToImport(flags.branch)
  if (out === undefined) print(exported.text, io.stdout)
  else await replaceFile(io.locate(out), exported.text, 'The manifest')
  printNotes(exported, io)
  print(`${counted(exported.computes, 'compute')} imported; the plan of this manifest is empty.`, io.stderr)
  return { code: EXIT.ok, leftOut }
}

const importAll = async (
  api: ReadApi,
  ids: readonly string[],
  flags: ImportFlags,
  onReading: OnReading,
  io: Io,
): Promise<Imported> => {
  const options = { ...exportOptions(flags), concurrency: flags.concurrency, onReading }
  const { files, unread } = await importProjects(api, ids, flags.out ?? FOLDER, options, io)
  let isComplete = unread.length === 0
  for (const { path, project, result } of files) {
    const name = plainText(project.name ?? project.id)
    if (result === 'exists')
      print(
        `${path} exists already. To add to it: \`espalier import --project ${project.id} --out ${path}\``,
        io.stderr,
      )
    else if ('error' in result) {
      isComplete = false
      print(`${name} was not imported:`, io.stderr)
      printError(result.error, { color: styleOf(io.stderr, flags, io.env).color, debug: false }, io)
    } else if (result.computes === 0) print(`${name}: no compute to import`, io.stderr)
    else {
      print(`${path}: ${counted(result.computes, 'compute')} of ${name}; its plan is empty`, io.stderr)
      printNotes(result, io)
    }
  }
  for (const { diagnostics } of unread) reportProblems(diagnostics, NO_FILES, { ...flags, format: 'terminal' }, io)
  const leftOut = files.reduce((sum, { project }) => sum + unchosen(project, options), 0)
  return { code: isComplete ? EXIT.ok : EXIT.error, leftOut }
}

const exportOptions = ({ branch, pin }: ImportFlags): ExportOptions => ({
  ...(branch === undefined ? {} : { branches: branch }),
  pin: pin === true,
  schema: SCHEMA,
})

/** Lists what was inferred, and what a manifest cannot express. */
export const printNotes = (
  { inferred, leftOut }: { readonly inferred: readonly string[]; readonly leftOut: readonly string[] },
  { stderr }: Io,
): void => {
  for (const line of inferred) print(`Inferred  ${plainText(line)}`, stderr)
  for (const line of leftOut) print(`Left out  ${plainText(line)}`, stderr)
}
