/** Exports live projects as manifests for which a plan is empty. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type OnReading, type ReadApi, snapshot } from '../../api/index.ts'
import { EspalierError, makeFolder, plainText, replaceFile } from '../../base/index.ts'
import { type Exported, type ExportOptions, exportProject, parseManifests } from '../../manifest/index.ts'
import { hasErrors, isEmptyPlan, type Observed, type ObservedProject } from '../../model/index.ts'
import { plan, unreadProjects } from '../../planner/index.ts'
import { print } from '../terminal/terminal.ts'
import type { Io } from './io.ts'
import { unknownProject } from './live-projects.ts'

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
  throw new EspalierError('E_IMPORT', `The project cannot be imported: ${plainText(why)}`, {
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

/** Prints which parts of the manifest were inferred, and which live settings a manifest cannot express. */
export const printNotes = (
  { inferred, leftOut }: { readonly inferred: readonly string[]; readonly leftOut: readonly string[] },
  { stderr }: Io,
): void => {
  for (const line of inferred) print(`Inferred  ${plainText(line)}`, stderr)
  for (const line of leftOut) print(`Left out  ${plainText(line)}`, stderr)
}
