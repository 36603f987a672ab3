/** Writes live projects as manifests, one file each. */
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type OnReading, type ReadApi, snapshot } from '../api/index.ts'
import { replaceFile } from '../base/index.ts'
import type { Exported, ExportOptions } from '../manifest/index.ts'
import { EspalierError, type ObservedProject } from '../model/index.ts'
import { unreadProjects } from '../planner/index.ts'
import { exportChecked } from './imported-manifest.ts'
import type { Io } from './io.ts'

export interface ImportedFile {
  readonly path: string
  readonly project: ObservedProject
  /** An existing file is left unchanged. */
  readonly result: Exported | { readonly error: EspalierError } | 'exists'
}

/**
 * Writes a file for each project into `folder`. If one cannot be imported, the others still are.
 *
 * @throws {EspalierError} `E_OUT` if a file cannot be written.
 */
export const importProjects = async (
  api: ReadApi,
  ids: readonly string[],
  folder: string,
  options: ExportOptions & { readonly concurrency: number; readonly onReading?: OnReading },
  io: Io,
): Promise<{ readonly files: readonly ImportedFile[]; readonly unread: ReturnType<typeof unreadProjects> }> => {
  const observed = await snapshot(api, ids, { concurrency: options.concurrency, onReading: options.onReading })
  const names = fileNames(observed.projects)
  await mkdir(io.locate(folder), { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_OUT', `${folder} cannot be created (${cause.code ?? cause.message}).`, { cause })
  })
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
    if (await isThere(io.locate(path))) return 'exists'
    const observed = { takenAt: new Date(0).toISOString(), projects: [project], missing: [] }
    const exported = exportChecked(project, observed, options)
    if (exported.computes > 0) await replaceFile(io.locate(path), exported.text, 'The manifest')
    return exported
  } catch (error) {
    if (error instanceof EspalierError && error.code === 'E_IMPORT') return { error }
    throw error
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** From the project's name if that gives a unique file name, else from its id. */
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
