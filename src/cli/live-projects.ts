/** Finds live projects by id, name or glob. */
import { ApiError, type Project, projectsNamed, type ReadApi } from '../api/index.ts'
import { compare } from '../base/index.ts'
import { EspalierError, globMatcher, globProblem, hasErrors, ID, plainText } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'
import { readManifests } from '../workflow/index.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'
import { ifAny } from './manifests.ts'
import { listed } from './terminal.ts'

/** A project-scoped key cannot list projects; a personal key may have to name an organization. */
const REFUSED = new Set([400, 403, 404])

/**
 * All projects that the key can access, sorted by name.
 *
 * @throws {EspalierError} `E_PROJECT_UNKNOWN` if there is none, `E_USAGE` if the key cannot list projects.
 */
export const visibleProjects = async (api: ReadApi): Promise<readonly Project[]> => {
  const projects = await api.listProjects().catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status === undefined || !REFUSED.has(error.status)) throw error
    if (error.code === 'E_BASE_URL') throw error
    throw new EspalierError('E_USAGE', `This key cannot list projects. ${error.message}`, {
      hint: 'Name a project with --project ID.',
      cause: error,
    })
  })
  if (projects.length > 0) return projects.toSorted((a, b) => compare(a.name, b.name))
  throw new EspalierError('E_PROJECT_UNKNOWN', 'The key does not have access to any project.', {
    hint: 'Create a project, or use another key.',
  })
}

/**
 * Resolves the name or id of a project. A text that could be an id and is not a known name is returned unchanged,
 * because a key that cannot list projects may still have access to the project with this id.
 *
 * @throws {EspalierError} `E_PROJECT_UNKNOWN` if no project has the name, or if several projects have it.
 */
export const projectIdOf = async (api: ReadApi, idOrName: string): Promise<string> => {
  const mayBeId = ID.test(idOrName)
  if (mayBeId && (await api.projectDetails(idOrName)) !== undefined) return idOrName
  const [only, ...others] = await projectsNamed(api, idOrName)
  if (only !== undefined && others.length > 0) {
    const ids = [only, ...others].map(({ id }) => id)
    throw new EspalierError('E_PROJECT_UNKNOWN', `${ids.length} projects have the name ${plainText(idOrName)}.`, {
      hint: `Use an id: ${ids.join(', ')}.`,
    })
  }
  if (only !== undefined) return only.id
  if (mayBeId) return idOrName
  throw unknownProject(idOrName)
}

/**
 * Finds the project with the given id or name. If none is given, this is the project that the manifests in the current
 * folder declare, if there is only one.
 *
 * @returns a function that finds its id, so that usage errors are reported before any request.
 * @throws {EspalierError} `E_USAGE` if the manifests declare no project, or more than one.
 */
export const oneProject = async (
  named: string | undefined,
  { cwd }: Io,
): Promise<(api: ReadApi) => Promise<string>> => {
  if (named !== undefined) return (api) => projectIdOf(api, named)
  const manifests = await ifAny(readManifests([], { cwd }))
  const ids =
    manifests === undefined || hasErrors(manifests.loaded.diagnostics) ? [] : projectIds(manifests.loaded.desired)
  const [only, second] = ids
  if (only === undefined) throw usageError('It is not clear which project to use.', NAME_IT)
  if (second === undefined) return async () => only
  throw usageError(
    `The manifests declare ${ids.length} projects, so it is not clear which one to use.`,
    `${NAME_IT} They declare ${listed(ids)}.`,
  )
}

const NAME_IT = 'Name the project with --project, by its id or name.'

export const unknownProject = (idOrName: string): EspalierError =>
  new EspalierError(
    'E_PROJECT_UNKNOWN',
    `No project has the id or name ${plainText(idOrName)}, or the key has no access to it.`,
    { hint: 'Check the project and the key.' },
  )

export interface LiveProjects {
  /** The ids of the matching projects, without duplicates. */
  readonly ids: readonly string[]
  /** How many projects that the key can access match no pattern. 0 if there was no glob. */
  readonly leftOut: number
}

/** @throws {EspalierError} `E_USAGE` for a pattern that is not a glob, or that matches no project. */
export const liveProjects = async (api: ReadApi, patterns: readonly string[]): Promise<LiveProjects> => {
  if (!patterns.some(isGlob)) {
    const ids = await Promise.all(patterns.map((pattern) => projectIdOf(api, pattern)))
    return { ids: [...new Set(ids)], leftOut: 0 }
  }
  const all = await visibleProjects(api)
  const ids = patterns.flatMap((pattern) => {
    const isMatch = globMatcher(pattern)
    const found = all.filter(({ id, name }) => isMatch(id) || isMatch(name)).map(({ id }) => id)
    if (found.length === 0) throw usageError(`--project ${pattern} matches no project that this key can access.`)
    return found
  })
  const chosen = new Set(ids)
  return { ids: [...chosen], leftOut: all.length - chosen.size }
}

/** Whether the pattern could match more than one project. */
export const isGlob = (pattern: string): boolean => /[*?[{]/.test(pattern)

/** @throws {EspalierError} `E_USAGE` */
export const checkGlobs = (flag: string, patterns: readonly string[] = []): void => {
  for (const pattern of patterns) {
    const wrong = globProblem(pattern)
    if (wrong !== undefined) throw usageError(`--${flag} ${pattern} is not a valid glob: ${wrong}.`)
  }
}
