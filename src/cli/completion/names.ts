/** The names in the manifests. */

import { git } from '../../base/index.ts'
import { readFiles } from '../../manifest/index.ts'
import { pathsOf, readManifests } from '../../workflow/index.ts'

/** A name that several documents declare appears several times. */
export interface DeclaredNames {
  readonly projects: readonly string[]
  readonly waves: readonly string[]
  readonly branches: readonly string[]
  /** Names in the form that `compute` commands accept: `main`, `main/reporting`. `id` is that of a pin. */
  readonly computes: readonly { readonly ref: string; readonly id?: string | undefined }[]
}

const NO_NAMES: DeclaredNames = { projects: [], waves: [], branches: [], computes: [] }

/** Reading more than this would take too long. */
const MOST_CHARACTERS = 2_000_000

/**
 * @param given the paths on the command line.
 * @param project if set, only its branches and computes are returned.
 */
export const declaredNames = async (
  cwd: string,
  given: readonly string[],
  project: string | undefined,
): Promise<DeclaredNames> => {
  try {
    const paths = await pathsOf(given, cwd)
    const { texts } = await readFiles(paths, cwd)
    if (texts.reduce((sum, { text }) => sum + text.length, 0) > MOST_CHARACTERS) return NO_NAMES
    const { documents, waves = [] } = (await readManifests(paths, { cwd })).loaded.desired
    const branches = documents
      .filter((document) => project === undefined || document.project === project)
      .flatMap((document) => document.branches)
    return {
      projects: documents.map((document) => document.project),
      waves: waves.map(({ name }) => name),
      branches: branches.map(({ ref }) => ref),
      computes: branches.flatMap(({ ref, primary, replicas }) => [
        ...(primary === undefined || 'absent' in primary ? [] : [{ ref, id: primary.id }]),
        ...replicas.map(({ key, id }) => ({ ref: `${ref}/${key}`, id })),
      ]),
    }
  } catch {
    // There may be no manifests, for example. Pressing TAB must not print an error.
    return NO_NAMES
  }
}

const MOST = 200

/** The names of branches and tags. Empty outside a repository. */
export const gitRefs = async (cwd: string): Promise<readonly string[]> => {
  const format = ['for-each-ref', `--count=${MOST}`, '--sort=-committerdate', '--format=%(refname:short)']
  try {
    return (await git(cwd, [...format, 'refs/heads', 'refs/remotes', 'refs/tags'])).toString().trim().split('\n')
  } catch {
    return []
  }
}
