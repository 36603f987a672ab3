/** Exports live projects as manifests for which a plan is empty. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type OnReading, type ReadApi, snapshot } from '../../api/index.ts'
import {
  counted,
  EspalierError,
  groupBy,
  listed,
  makeFolder,
  plainText,
  replaceFile,
  shellWord,
} from '../../base/index.ts'
import {
  type Exported,
  type ExportOptions,
  exportProject,
  type InferredRule,
  parseManifests,
} from '../../manifest/index.ts'
import {
  type Diagnostic,
  hasErrors,
  isEmptyPlan,
  type Observed,
  type ObservedProject,
  problem,
} from '../../model/index.ts'
import { plan, unreadProjects } from '../../planner/index.ts'
import { printProblems } from '../terminal/report-problems.ts'
import { print, type StyleFlags } from '../terminal/terminal.ts'
import type { Io } from './io.ts'
import { unknownProject } from './live-projects.ts'
import { completeCommands } from './suggested-commands.ts'

/** @throws {EspalierError} `E_PROJECT_UNKNOWN`, `E_PROJECT_UNREADABLE` */
export const observeOne = async (
  api: ReadApi,
  id: string,
): Promise<{ readonly project: ObservedProject; readonly observed: Observed }> => {
  const observed = await snapshot(api, [id])
  const [project] = observed.projects
  if (project !== undefined) return { project, observed }
  const [unreadable] = observed.unreadable ?? []
  if (unreadable === undefined) throw unknownProject(id)
  const { message, hint } = unreadable
  throw new EspalierError('E_PROJECT_UNREADABLE', `Project ${id} could not be read. ${message}.`, { hint })
}

/** @throws {EspalierError} `E_IMPORT` if the plan of the manifest is not empty. */
export const exportChecked = (project: ObservedProject, options: ExportOptions): Exported => {
  const exported = exportProject(project, options)
  const observed = { takenAt: new Date(0).toISOString(), projects: [project], missing: [] }
  const loaded = parseManifests([{ path: 'import.yaml', text: exported.text }])
  const result = hasErrors(loaded.diagnostics) ? undefined : plan(loaded.desired, observed)
  if (result?.ok === true && isEmptyPlan(result.plan)) return exported
  const [first] = result?.ok === false ? result.diagnostics : loaded.diagnostics
  const why = first?.message ?? 'its plan is not empty'
  throw new EspalierError('E_IMPORT', `Project \`${project.id}\` cannot be imported: ${plainText(why)}`, {
    hint: 'Nothing was written. Try again with --pin, or select fewer branches with --branch.',
  })
}

export interface ImportedFile {
  readonly path: string
  readonly project: ObservedProject
  /** `exists` means that the file already existed and was left unchanged. */
  readonly result: Exported | { readonly error: EspalierError } | 'exists'
}

/**
 * Writes a file for each project into `folder`. If a project cannot be imported, the others still are.
 *
 * @throws {EspalierError} `E_OUT` if a file cannot be written.
 */
export const importProjects = async (
  api: ReadApi,
  ids: readonly string[],
  folder: string,
  options: ExportOptions & { readonly onReading?: OnReading },
  io: Io,
): Promise<{ readonly files: readonly ImportedFile[]; readonly unread: ReturnType<typeof unreadProjects> }> => {
  const observed = await snapshot(api, ids, { onReading: options.onReading })
  const names = fileNames(observed.projects)
  await makeFolder(io.locate(folder))
  const files: ImportedFile[] = []
  for (const project of observed.projects) {
    const path = join(folder, names.get(project.id) ?? `${project.id}.yaml`)
    files.push({ path, project, result: await importTo(path, project, options, io) })
  }
  return { files, unread: unreadProjects(observed) }
}

const importTo = async (
  path: string,
  project: ObservedProject,
  options: ExportOptions,
  io: Io,
): Promise<ImportedFile['result']> => {
  try {
    if (existsSync(io.locate(path))) return 'exists'
    const exported = exportChecked(project, options)
    if (exported.computes > 0) await replaceFile(io.locate(path), exported.text, 'The manifest')
    return exported
  } catch (error) {
    if (error instanceof EspalierError && error.code === 'E_IMPORT') return { error }
    throw error
  }
}

/** A file name made from the project's name if it is unique, and otherwise from its id. */
const fileNames = (projects: readonly ObservedProject[]): ReadonlyMap<string, string> => {
  const slugs = projects.map(({ name = '' }) =>
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, ''),
  )
  return new Map(
    projects.map(({ id }, index) => {
      const slug = slugs[index] ?? ''
      const isOwn = slug !== '' && slugs.indexOf(slug) === slugs.lastIndexOf(slug)
      return [id, `${isOwn ? slug : id}.yaml`]
    }),
  )
}

/** Prints a line such as `written        espalier.yaml`. */
export type Report = (how: string, what: string) => void

export const reportOn =
  (stream: Io['stdout']): Report =>
  (how, what) =>
    print(`${how.padEnd(14)} ${plainText(what)}`, stream)

/**
 * Reports the written files, each on a line if there are few. What is the same in several projects is said once.
 *
 * @returns whether every project could be read and imported.
 */
export const reportImported = (
  { files, unread }: Awaited<ReturnType<typeof importProjects>>,
  report: Report,
  flags: StyleFlags,
  io: Io,
): boolean => {
  const written: (readonly [path: string, exported: Exported])[] = []
  const existing: ImportedFile[] = []
  const empty: string[] = []
  const problems: Diagnostic[] = unread.flatMap(({ diagnostics }) => diagnostics)
  for (const file of files) {
    const { path, project, result } = file
    if (result === 'exists') existing.push(file)
    else if ('error' in result) problems.push(problem('E_IMPORT', result.error.message, result.error.hint))
    else if (result.computes === 0) empty.push(project.name ?? project.id)
    else written.push([path, result])
  }
  if (written.length > MOST_NAMED) {
    const computes = written.reduce((sum, [, exported]) => sum + exported.computes, 0)
    const what = `${counted(written.length, 'manifest')} with ${counted(computes, 'compute')}`
    report('written', `${dirname(written[0]?.[0] ?? '')}/: ${what}; their plans are empty`)
  } else {
    for (const [path, exported] of written)
      report('written', `${path}: ${counted(exported.computes, 'compute')}; its plan is empty`)
  }
  const rules = written.flatMap(([path, exported]) => exported.rules.map((rule) => ({ path, ...rule })))
  for (const alike of groupBy(rules, (rule) => ruleWords({ ...rule, branches: 0 })).values()) {
    const [first] = alike
    if (first === undefined) continue
    const branches = alike.reduce((sum, rule) => sum + rule.branches, 0)
    report('inferred', `in ${shortened(alike.map(({ path }) => path))}: ${ruleWords({ ...first, branches })}`)
  }
  const incomplete = written.flatMap(([path, { leftOut }]) => (leftOut.length > 0 ? [path] : []))
  if (incomplete.length > 0) report('not managed', `see the end of ${shortened(incomplete)}`)
  const [present, ...others] = existing
  if (present !== undefined) {
    const { path, project } = present
    const which = others.length === 0 ? 'it' : 'the first'
    const how = `To add live computes to ${which}, run \`espalier import --project ${project.id} --out ${shellWord(path)}\``
    report('exists', `${shortened(existing.map((one) => one.path))}. ${completeCommands(how, flags.invocation)}`)
  }
  if (empty.length > 0) report('left out', `${shortened(empty)}: no compute`)
  if (problems.length > 0) printProblems(problems, flags, io)
  return problems.length === 0
}

const MOST_NAMED = 8

const shortened = (names: readonly string[]): string => listed(names, MOST_NAMED)

const ruleWords = ({ match, branches, expires, differing }: InferredRule): string => {
  const future = expires === undefined ? 'future ones' : 'future ones that expire'
  const differ = differing.length === 0 ? '' : `; they differ in ${differing.join(', ')}, so this is not managed`
  return `rule \`${match}\` for ${counted(branches, 'branch', 'branches')} and ${future}${differ}`
}

/** Reports which parts of a manifest were inferred, and which live settings a manifest cannot express. */
export const reportNotes = (
  { reasons, rules, leftOut }: Pick<Exported, 'reasons' | 'rules' | 'leftOut'>,
  report: Report,
): void => {
  for (const line of [...reasons, ...rules.map(ruleWords)]) report('inferred', line)
  for (const line of leftOut) report('not managed', line)
}
