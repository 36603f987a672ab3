/** The manifests of a run. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type LoadedManifests, loadManifests, readSizeTable } from '../manifest/index.ts'
import { EspalierError, plainText, type Selection, type Shard, type SizeTable } from '../model/index.ts'

export const DEFAULT_PATHS = ['espalier.yaml', 'espalier.yml', 'espalier'] as const

export interface Manifests {
  readonly loaded: LoadedManifests
  readonly paths: readonly string[]
  readonly sizeTable?: SizeTable
  /** Of the fleet, only this part is in `loaded.desired`. */
  readonly shard?: Shard
  /** Of what they ask for, only this part is planned. */
  readonly selecting?: Selecting
}

/** The selection of some manifests, ready to be planned with. */
export interface Selecting {
  readonly selection: Selection
  /** The manifests at `introducedSince`. */
  readonly since?: Manifests
  /** Declared projects that are not selected. */
  readonly leftOutProjects: number
}

export interface ManifestOptions {
  readonly sizeTablePath?: string | undefined
  /** Default: the current folder. */
  readonly cwd?: string
}

/**
 * Reads what was asked for: files, directories and globs, and where nothing was named the first of
 * {@link DEFAULT_PATHS} that is there.
 *
 * @throws {EspalierError} where nothing was named and nothing is there, or a size table cannot be used.
 */
export const readManifests = async (
  given: readonly string[],
  { sizeTablePath, cwd = process.cwd() }: ManifestOptions = {},
): Promise<Manifests> => {
  const sizeTable = sizeTablePath === undefined ? undefined : await readSizeTable(sizeTablePath)
  const options = sizeTable === undefined ? {} : { sizeTable }
  const paths = await pathsOf(given, cwd)
  return { loaded: await loadManifests(paths, { cwd, ...options }), paths, ...options }
}

/**
 * What was named, or the first of {@link DEFAULT_PATHS} that is there.
 *
 * @throws {EspalierError} where nothing was named and nothing is there.
 */
export const pathsOf = async (given: readonly string[], cwd: string): Promise<readonly string[]> =>
  given.length > 0 ? given : [await defaultPath(cwd)]

const defaultPath = async (cwd: string): Promise<string> => {
  for (const path of DEFAULT_PATHS) {
    const found = await stat(join(cwd, path)).catch(() => undefined)
    if (found !== undefined) return path
  }
  throw new EspalierError('E_NO_MANIFESTS', 'There is no espalier.yaml and no espalier/ here.', {
    hint: 'Name files, directories or globs: `espalier plan path/to/manifest.yaml`.',
  })
}

/** The same manifests without what they say of these projects. What is wrong with any of them is still reported. */
export const withoutProjects = (manifests: Manifests, projects: readonly string[]): Manifests => {
  if (projects.length === 0) return manifests
  const { desired } = manifests.loaded
  const documents = desired.documents.filter(({ project }) => !projects.includes(project))
  return { ...manifests, loaded: { ...manifests.loaded, desired: { ...desired, documents } } }
}

/** @param path of a file that was found beside manifests. */
export const seedNote = (path: string): string =>
  `Note  ${plainText(path)} is a sandbox seed, not a manifest, so it is left out.`
