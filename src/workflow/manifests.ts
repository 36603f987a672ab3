/** Reads the manifests and policies that a run uses. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EspalierError, plainText } from '../base/index.ts'
import { type LoadedManifests, loadManifests, NO_MANIFESTS_HINT } from '../manifest/index.ts'
import type { Change, Selection } from '../model/index.ts'
import type { Selected } from '../planner/index.ts'
import type { JudgeOptions } from './judge-plan.ts'
import { readPolicies } from './policies.ts'

export const DEFAULT_PATHS = ['espalier.yaml', 'espalier.yml', 'espalier'] as const

export interface Manifests {
  readonly loaded: LoadedManifests
  readonly paths: readonly string[]
  /** The policy files that the user named. */
  readonly policyPaths?: readonly string[]
  /** The policies that the plan is reviewed with. */
  readonly review?: JudgeOptions
  /** If given, only this selection is planned. */
  readonly selecting?: Selecting
}

/** A selection with everything that is needed to plan it. */
export interface Selecting {
  readonly selection: Selection
  /** The manifests at `introducedSince`. */
  readonly since?: Manifests
  /** The number of declared projects that are not selected. */
  readonly leftOutProjects: number
  /** A caller's own filter for changes, which is used instead of `selection`. */
  readonly choose?: (change: Change) => Selected
}

/**
 * Reads manifests from files, directories and globs. By default, reads the first of {@link DEFAULT_PATHS} that exists.
 *
 * @param cwd the folder that paths are relative to. The default is the current folder.
 * @param policyPaths policy files to read in addition to the one in the folder.
 * @throws {EspalierError} if there are no manifests.
 */
export const readManifests = async (
  given: readonly string[],
  { cwd = process.cwd(), policyPaths }: { readonly cwd?: string; readonly policyPaths?: readonly string[] } = {},
): Promise<Manifests> => {
  const paths = await pathsOf(given, cwd)
  return withPolicies({ loaded: await loadManifests(paths, cwd), paths }, cwd, policyPaths)
}

/** Reads the policies. An error in a policy file counts as an error in the manifests, so nothing is planned. */
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
 * Returns the given paths or, if there are none, the first of {@link DEFAULT_PATHS} that exists.
 *
 * @throws {EspalierError} if no path is given and none of the default paths exists.
 */
export const pathsOf = async (given: readonly string[], cwd: string): Promise<readonly string[]> => {
  if (given.length > 0) return given
  for (const path of DEFAULT_PATHS) {
    const found = await stat(join(cwd, path)).catch(() => undefined)
    if (found !== undefined) return [path]
  }
  throw new EspalierError('E_NO_MANIFESTS', 'There is no espalier.yaml and no espalier/ in the current folder.', {
    hint: NO_MANIFESTS_HINT,
  })
}

/** The manifests with only these projects. Errors in other projects are still reported. */
export const onlyProjects = (manifests: Manifests, isKept: (project: string) => boolean): Manifests => {
  const { loaded } = manifests
  const documents = loaded.desired.documents.filter(({ project }) => isKept(project))
  return { ...manifests, loaded: { ...loaded, desired: { ...loaded.desired, documents } } }
}

export const withoutProjects = (manifests: Manifests, projects: readonly string[]): Manifests =>
  onlyProjects(manifests, (project) => !projects.includes(project))

/** A note for each file that was found among the manifests but is not a manifest. */
export const fileNotes = ({ loaded, review }: Manifests): readonly string[] => {
  const used = review?.policies?.files ?? []
  return [
    ...loaded.seeds.map((path) => `Note  ${plainText(path)} is a sandbox seed, not a manifest; it is ignored.`),
    ...loaded.policyFiles
      .filter((path) => !used.includes(path))
      .map((path) => `Note  ${plainText(path)} is a policy file, but is not used. To use it, pass --policy.`),
  ]
}
