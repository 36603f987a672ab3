/** The names in the manifests in the current folder. */

import { git } from '../../base/index.ts'
import { readFiles } from '../../manifest/index.ts'
import { pathsOf, readManifests } from '../../workflow/index.ts'

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

/** @param project if set, only its branches and computes are returned. */
export const declaredNames = async (cwd: string, project: string | undefined): Promise<DeclaredNames> => {
  try {
    const { texts } = await readFiles(await pathsOf([], cwd), cwd)
    if (texts.reduce((sum, { text }) => sum + text.length, 0) > MOST_CHARACTERS) return NO_NAMES
    const { documents, waves = [] } = (await readManifests([], { cwd })).loaded.desired
    const branches = documents
      .filter((document) => project === undefined || document.project === project)
      .flatMap((document) => document.branches)
    return {
      projects: unique(documents.map((document) => document.project)),
      waves: waves.map(({ name }) => name),
      branches: unique(branches.map(({ ref }) => ref)),
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

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)]

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
