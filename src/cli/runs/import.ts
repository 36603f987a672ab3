import type { ReadApi } from '../../api/index.ts'
import { replaceFile } from '../../base/index.ts'
import type { ExportOptions } from '../../manifest/index.ts'
import { EXIT, type ExitCode, globProblem } from '../../model/index.ts'
import { counted, plainText } from '../../report/index.ts'
import { type ApiFlags, withReadApi } from '../connect.ts'
import { usageError } from '../flags.ts'
import { importProjects } from '../import-projects.ts'
import { exportChecked, nothingToImport, observeOne } from '../imported-manifest.ts'
import { visibleProjects } from '../init/visible-projects.ts'
import type { Io } from '../io.ts'
import { printError } from '../print-error.ts'
import { NO_FILES, reportProblems } from '../report-problems.ts'
import { print, styleOf } from '../terminal.ts'
import { importInto } from './import-into.ts'

export interface ImportFlags extends ApiFlags {
  readonly project?: string | undefined
  readonly all?: boolean | undefined
  readonly branch?: string | undefined
  readonly pin?: boolean | undefined
  readonly out?: string | undefined
  readonly noColor?: boolean | undefined
}

const SCHEMA = 'https://espalier.dev/schemas/manifest.schema.json'
const FOLDER = 'espalier'

/** Writes no manifest whose plan against the same snapshot is not empty. */
export const runImport = async (flags: ImportFlags, io: Io): Promise<ExitCode> => {
  const wrong = flags.branch === undefined ? undefined : globProblem(flags.branch)
  if (wrong !== undefined) throw usageError(`--branch ${flags.branch} is not a valid glob: ${wrong}.`)
  if (flags.all === true && flags.project !== undefined) {
    throw usageError('--all and --project cannot be given together.')
  }
  return withReadApi(flags, io, async (api) => {
    if (flags.project !== undefined) return importOne(api, flags.project, flags, io)
    const [first, ...others] = await visibleProjects(api)
    if (first === undefined) return EXIT.error
    if (flags.all !== true && others.length === 0) return importOne(api, first.id, flags, io)
    return importAll(
      api,
      [first, ...others].map(({ id }) => id),
      flags,
      io,
    )
  })
}

const importOne = async (api: ReadApi, idOrName: string, flags: ImportFlags, io: Io): Promise<ExitCode> => {
  const { project, observed } = await observeOne(api, idOrName)
  const options = exportOptions(flags)
  const { out, noColor } = flags
  const merged = out === undefined ? undefined : await importInto({ out, noColor }, project, observed, options, io)
  if (merged !== undefined) return merged
  const exported = exportChecked(project, observed, options)
  if (exported.computes === 0) throw nothingToImport(flags.branch)
  if (out === undefined) print(exported.text, io.stdout)
  else await replaceFile(io.locate(out), exported.text, 'The manifest')
  printNotes(exported, io)
  print(`${counted(exported.computes, 'compute')} imported; the plan of this manifest is empty.`, io.stderr)
  return EXIT.ok
}

const importAll = async (api: ReadApi, ids: readonly string[], flags: ImportFlags, io: Io): Promise<ExitCode> => {
  const options = { ...exportOptions(flags), concurrency: flags.concurrency }
  const { files, unread } = await importProjects(api, ids, flags.out ?? FOLDER, options, io)
  let isWell = unread.length === 0
  for (const { path, project, result } of files) {
    const name = plainText(project.name ?? project.id)
    if (result === 'there already')
      print(
        `${path} is there already: to add to it, \`espalier import --project ${project.id} --out ${path}\``,
        io.stderr,
      )
    else if ('error' in result) {
      isWell = false
      print(`${name} was not imported:`, io.stderr)
      printError(result.error, { color: styleOf(io.stderr, flags, io.env).color, debug: false }, io)
    } else if (result.computes === 0) print(`${name}: no compute to import`, io.stderr)
    else {
      print(`${path}: ${counted(result.computes, 'compute')} of ${name}; its plan is empty`, io.stderr)
      printNotes(result, io)
    }
  }
  for (const { diagnostics } of unread) reportProblems(diagnostics, NO_FILES, { ...flags, format: 'terminal' }, io)
  return isWell ? EXIT.ok : EXIT.error
}

const exportOptions = ({ branch, pin }: ImportFlags): ExportOptions => ({
  ...(branch === undefined ? {} : { branches: branch }),
  pin: pin === true,
  schema: SCHEMA,
})

/** What the manifest says beyond the live values, and what it cannot say. */
export const printNotes = (
  { inferred, leftOut }: { readonly inferred: readonly string[]; readonly leftOut: readonly string[] },
  { stderr }: Io,
): void => {
  for (const line of inferred) print(`Inferred  ${plainText(line)}`, stderr)
  for (const line of leftOut) print(`Left out  ${plainText(line)}`, stderr)
}
