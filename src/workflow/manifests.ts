/** The manifests of a run. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type LoadedManifests, loadManifests, readFiles, readSizeTable } from '../manifest/index.ts'
import { type Change, EspalierError, plainText, type Selection, type Shard, type SizeTable } from '../model/index.ts'
import type { Selected } from '../planner/index.ts'
import { readPolicies } from './policies.ts'
import type { ReviewOptions } from './review.ts'

export const DEFAULT_PATHS = ['espalier.yaml', 'espalier.yml', 'espalier'] as const

export interface Manifests {
  readonly loaded: LoadedManifests
  readonly paths: readonly string[]
  readonly sizeTable?: SizeTable
  /** Policy files that were given. */
  readonly policyPaths?: readonly string[]
  /** `loaded.desired` holds only this shard of the fleet. */
  readonly shard?: Shard
  /** Prices, tiers and policies that its plans are reviewed by. */
  readonly review?: ReviewOptions
  /** Only this part of their declarations is planned. */
  readonly selecting?: Selecting
}

/** The selection of some manifests, ready for planning. */
export interface Selecting {
  readonly selection: Selection
  /** The manifests at `introducedSince`. */
  readonly since?: Manifests
  /** Declared projects that are not selected. */
  readonly leftOutProjects: number
  /** A caller's own filter for each change, instead of all of these. */
  readonly choose?: (change: Change) => Selected
}

export interface ManifestOptions {
  readonly sizeTablePath?: string | undefined
  /** Instead of reading one. */
  readonly sizeTable?: SizeTable
  /** Default: the current folder. */
  readonly cwd?: string
  /** Policy files next to the one of the folder. */
  readonly policyPaths?: readonly string[]
}

/**
 * Reads what was asked for: files, directories and globs, and if nothing was named the first of
 * {@link DEFAULT_PATHS} that exists.
 *
 * @throws {EspalierError} if nothing was named and nothing is there, or a size table cannot be used.
 */
export const readManifests = async (
  given: readonly string[],
  { sizeTablePath, sizeTable: known, cwd = process.cwd(), policyPaths }: ManifestOptions = {},
): Promise<Manifests> => {
  const sizeTable = sizeTablePath === undefined ? known : await readSizeTable(sizeTablePath)
  const options = sizeTable === undefined ? {} : { sizeTable }
  const paths = await pathsOf(given, cwd)
  return withPolicies({ loaded: await loadManifests(paths, { cwd, ...options }), paths, ...options }, cwd, policyPaths)
}

/** A policy file with a mistake is a mistake of the manifests: nothing is planned. */
export const withPolicies = async (
  manifests: Manifests,
  cwd: string,
  named: readonly string[] = [],
): Promise<Manifests> => {
  const { loaded } = manifests
  const { diagnostics, lineOf, ...policies } = await readPolicies(cwd, named, loaded.desired)
  return {
    ...manifests,
    ...(named.length === 0 ? {} : { policyPaths: named }),
    loaded: {
      ...loaded,
      diagnostics: [...loaded.diagnostics, ...diagnostics],
      lineOf: (source) => loaded.lineOf(source) ?? lineOf(source),
    },
    ...(policies.files.length === 0 && policies.mistake === undefined
      ? {}
      : { review: { ...manifests.review, policies } }),
  }
}

/**
 * What was named, or the first of {@link DEFAULT_PATHS} that exists.
 *
 * @throws {EspalierError} if nothing was named and nothing is there.
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

/** A line for each file next to the manifests that is something else. */
export const fileNotes = ({ loaded, review }: Manifests): readonly string[] => {
  const used = review?.policies?.files ?? []
  return [
    ...loaded.seeds.map((path) => `Note  ${plainText(path)} is a sandbox seed, not a manifest, so it is left out.`),
    ...loaded.policyFiles
      .filter((path) => !used.includes(path))
      .map((path) => `Note  ${plainText(path)} is a policy file that is not used. Name it with --policy.`),
  ]
}

/** @throws {EspalierError} `E_TIER_TABLE` if the file cannot be read. */
export const readManifestText = async (path: string, cwd: string): Promise<string> => {
  const { texts, diagnostics } = await readFiles([path], cwd)
  const [text] = texts
  if (text !== undefined) return text.text
  throw new EspalierError('E_TIER_TABLE', diagnostics[0]?.message ?? `${path} cannot be read.`)
}
