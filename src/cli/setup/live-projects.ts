/** Finds live projects by id, name or glob. */
import { ApiError, type Project, projectsNamed, type ReadApi } from '../../api/index.ts'
import {
  compare,
  counted,
  didYouMean,
  EspalierError,
  globProblem,
  listed,
  plainText,
  shellWord,
} from '../../base/index.ts'
import { hasErrors, ID } from '../../model/index.ts'
import { projectIds } from '../../planner/index.ts'
import { type Manifests, matchingProjects, readManifests } from '../../workflow/index.ts'
import type { Invocation } from '../command.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'
import { ifAny } from './manifests.ts'

/** The default path of a folder of manifests. If several projects are imported, each gets a file in it. */
export const FOLDER = 'espalier'

/** A project-scoped key may not list projects. */
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
 * The ids of the projects with this id or name. If none is found, a text that could be an id is returned unchanged,
 * because the key may have access to the project although it cannot list it.
 *
 * @param isOnly whether no other projects are chosen. Otherwise, those are still shown.
 * @throws {EspalierError} `E_USAGE` or `E_PROJECT_UNKNOWN` if there is certainly no such project.
 */
const idsNamed = async (api: ReadApi, idOrName: string, isOnly: boolean): Promise<readonly string[]> => {
  const mayBeId = ID.test(idOrName)
  if (mayBeId && (await api.projectDetails(idOrName)) !== undefined) return [idOrName]
  const found = matchingProjects(idOrName, await projectsNamed(api, idOrName))
  if (found.length > 0) return found
  if (isOnly) {
    const all = await visibleProjects(api).catch((error: unknown) => {
      if (error instanceof EspalierError && error.code === 'E_USAGE') return undefined
      throw error
    })
    if (all !== undefined) throw noMatch(idOrName, all)
  }
  if (mayBeId) return [idOrName]
  throw unknownProject(idOrName)
}

const noMatch = (pattern: string, all: readonly Project[]): EspalierError =>
  usageError(
    `--project ${pattern} matches no project that this key can access.`,
    didYouMean(
      pattern,
      all.flatMap(({ id, name }) => [id, plainText(name)]),
    ) ?? `It can access ${listed(all.map(({ id, name }) => `${id} (${plainText(name)})`))}.`,
  )

/**
 * Finds the project that the patterns of `--project` match. If there are none, this is the project that the manifests
 * in the current folder declare, if there is only one.
 *
 * @param choose chooses among several declared projects. By default, this is an error.
 * @returns a function that finds its id, so that usage errors are reported before any request.
 * @throws {EspalierError} `E_USAGE` if there is no such project, or more than one.
 */
export const oneProject = async (
  patterns: readonly string[] | undefined,
  { cwd }: Io,
  { name, values }: Invocation,
  choose?: (api: ReadApi, ids: readonly string[]) => Promise<string>,
): Promise<(api: ReadApi) => Promise<string>> => {
  checkGlobs('project', patterns)
  if (patterns !== undefined) return async (api) => onlyOf((await liveProjects(api, patterns)).ids, patterns)
  const manifests = await ifAny(readManifests([], { cwd }))
  const ids =
    manifests === undefined || hasErrors(manifests.loaded.diagnostics) ? [] : projectIds(manifests.loaded.desired)
  const [only, second] = ids
  const refs = [values.ref ?? [], values.refs ?? []].flat(2).map((one) => shellWord(String(one)))
  const command = [name, ...refs].join(' ')
  const naming = (id: string): string =>
    `Name the project by its id or name: run \`espalier ${command} --project ${id}\`.`
  if (only === undefined) throw usageError('It is not clear which project to use.', naming('ID'))
  if (second === undefined) return async () => only
  if (choose !== undefined) return (api) => choose(api, ids)
  throw usageError(
    `The manifests declare ${ids.length} projects, so it is not clear which one to use.`,
    `${naming(only)} They declare ${listed(ids)}.`,
  )
}

const onlyOf = ([only, ...others]: readonly string[], patterns: readonly string[]): string => {
  if (only !== undefined && others.length === 0) return only
  const ids = only === undefined ? [] : [only, ...others]
  throw usageError(
    `--project ${patterns.join(' --project ')} matches ${ids.length} projects, but this command works on one.`,
    `Choose one by its id: ${listed(ids)}.`,
  )
}

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

/** @throws {EspalierError} `E_USAGE` or `E_PROJECT_UNKNOWN` for a pattern that matches no project. */
export const liveProjects = async (
  api: ReadApi,
  patterns: readonly string[],
  isAlone = patterns.length === 1,
): Promise<LiveProjects> => {
  const all = patterns.some(isGlob) ? await visibleProjects(api) : []
  const idsOf = async (pattern: string): Promise<readonly string[]> => {
    if (!isGlob(pattern)) return idsNamed(api, pattern, isAlone)
    const found = matchingProjects(pattern, all)
    if (found.length > 0) return found
    throw noMatch(pattern, all)
  }
  const chosen = new Set((await Promise.all(patterns.map(idsOf))).flat())
  return { ids: [...chosen], leftOut: all.filter(({ id }) => !chosen.has(id)).length }
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

/**
 * A sentence about the projects that the key can access and no manifest declares, so that nobody takes them for managed.
 * `undefined` if there are none, if the manifests have errors, or if the key cannot list projects. Reads one page, so an
 * organization with more than 400 projects is not searched completely.
 *
 * @param manifests the manifests at a default path. Other files might declare further projects.
 */
export const undeclaredNote = async (api: ReadApi, { loaded, paths }: Manifests): Promise<string | undefined> => {
  if (hasErrors(loaded.diagnostics)) return undefined
  const declared = new Set(projectIds(loaded.desired))
  const all = await api.searchProjects().catch((error: unknown) => {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return []
    throw error
  })
  const found = all.filter(({ id }) => !declared.has(id)).toSorted((a, b) => compare(a.name, b.name))
  const [first] = found
  if (first === undefined) return undefined
  const names = found.map(({ name }) => plainText(name))
  const file = paths[0] === FOLDER ? `${FOLDER}/${first.id}.yaml` : paths[0]
  const command = `espalier import --project ${first.id} --out ${shellWord(file ?? '')}`
  return [
    `${counted(found.length, 'project')} that the key can access ${found.length === 1 ? 'is' : 'are'} not declared:`,
    `${listed(names)}. To declare ${names[0]}, run \`${command}\`.`,
  ].join(' ')
}
