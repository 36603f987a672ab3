/** Plans and applies only some projects, branches or changes. */
import {
  commitOf,
  counted,
  defined,
  EspalierError,
  globMatcher,
  globProblem,
  listed as listedNames,
} from '../base/index.ts'
import {
  type Change,
  changeTitle,
  type Observed,
  type Plan,
  type PlanSelection,
  type Selection,
  waveOf,
} from '../model/index.ts'
import { originOf, projectIds, type Selected } from '../planner/index.ts'
import { manifestsAt } from './at-ref.ts'
import { isUsableBase, planOfBase, removedProjects } from './base.ts'
import { type Manifests, onlyProjects } from './manifests.ts'

/** A selection as the user gives it. `introducedSince` may be any git ref. */
export type AskedSelection = { readonly [K in keyof Selection]?: Selection[K] | undefined }

/**
 * @throws {EspalierError} `E_USAGE` if a pattern is not a valid glob, the wave is unknown, or the manifests at the ref
 *   have errors. `E_GIT` if the ref cannot be read.
 */
export const select = async (manifests: Manifests, asked: AskedSelection, cwd?: string): Promise<Manifests> => {
  const { projects = [], branches = [], wave, introducedSince: ref, changes } = asked
  const isAll = projects.length + branches.length === 0 && [wave, ref, changes].every((one) => one === undefined)
  if (isAll) return manifests
  checkWave(manifests, wave)
  for (const pattern of [...projects, ...branches]) {
    const why = globProblem(pattern)
    if (why !== undefined) throw usage(`${pattern} is not a valid glob: ${why}.`)
  }
  const since = ref === undefined ? undefined : await manifestsAt(ref, manifests, { cwd })
  if (since !== undefined && !isUsableBase(since)) {
    throw usage(`The manifests at ${ref} have errors, so it is unknown which changes were introduced since.`)
  }
  const commit = ref === undefined ? undefined : await commitOf(cwd ?? process.cwd(), ref)
  const selection: Selection = {
    ...(projects.length === 0 ? {} : { projects }),
    ...(branches.length === 0 ? {} : { branches }),
    ...defined({ wave, introducedSince: commit, changes }),
  }
  return { ...manifests, selecting: { selection, leftOutProjects: 0, ...defined({ since }) } }
}

/**
 * Reduces the manifests, and those of the base that they are compared with, to the selected projects. Both are reduced
 * to the same projects. Otherwise, a project that is not selected would seem to be removed since the base.
 *
 * @param namesOf looks up the names of projects. Not called if every pattern is the id of a project.
 * @throws {EspalierError} `E_USAGE` if a pattern matches no project.
 */
export const selectProjects = async (
  head: Manifests,
  base: Manifests | undefined,
  namesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<{ readonly head: Manifests; readonly base: Manifests | undefined }> => {
  const { selecting } = head
  const { projects: patterns, wave } = selecting?.selection ?? {}
  if (selecting === undefined || (patterns === undefined && wave === undefined)) return { head, base }
  const declared = projectIds(head.loaded.desired)
  const inWave = (manifests: Manifests, ids: readonly string[]): readonly string[] =>
    wave === undefined ? ids : ids.filter((id) => waveNameOf(manifests, id) === wave)
  const ids = [...inWave(head, declared), ...(base === undefined ? [] : inWave(base, removedProjects(base, head)))]
  const chosen = new Set(patterns === undefined ? ids : await matching(patterns, ids, namesOf))
  const isChosen = (project: string): boolean => chosen.has(project)
  const leftOutProjects = selecting.leftOutProjects + declared.filter((id) => !isChosen(id)).length
  return {
    head: { ...onlyProjects(head, isChosen), selecting: { ...selecting, leftOutProjects } },
    base: base && onlyProjects(base, isChosen),
  }
}

const waveNameOf = ({ loaded: { desired } }: Manifests, project: string): string | undefined =>
  desired.waves?.[waveOf(desired.waves, project)]?.name

const matching = async (
  patterns: readonly string[],
  ids: readonly string[],
  namesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<readonly string[]> => {
  const projects = await withNames(patterns, ids, namesOf)
  return patterns.flatMap((pattern) => {
    const found = matchingProjects(pattern, projects)
    if (found.length > 0) return found
    throw usage(
      `--project ${pattern} matches no project of these manifests.`,
      `They declare ${listed(projects.map(({ id, name }) => (name === undefined ? id : `${id} (${name})`)))}.`,
    )
  })
}

export interface NamedProject {
  readonly id: string
  readonly name?: string | undefined
}

/** The projects with their names, if deciding which of them the patterns match takes the names. */
export const withNames = async (
  patterns: readonly string[],
  ids: readonly string[],
  namesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<readonly NamedProject[]> => {
  const names = patterns.every((pattern) => ids.includes(pattern)) ? new Map<string, string>() : await namesOf(ids)
  return ids.map((id) => ({ id, name: names.get(id) }))
}

/**
 * The ids of the projects that a `--project` pattern selects: those whose id or name it matches. The case of names does
 * not matter. A pattern that is itself the id of a project selects only that project.
 */
export const matchingProjects = (pattern: string, projects: readonly NamedProject[]): readonly string[] => {
  if (projects.some(({ id }) => id === pattern)) return [pattern]
  const isId = globMatcher(pattern)
  const isName = globMatcher(pattern.toLowerCase())
  return projects.filter(({ id, name = '' }) => isId(id) || isName(name.toLowerCase())).map(({ id }) => id)
}

const checkWave = ({ loaded: { desired } }: Manifests, wave: string | undefined): void => {
  const { waves = [] } = desired
  if (wave === undefined || waves.some(({ name }) => name === wave)) return
  throw usage(`These manifests have no wave ${wave}.`, `They have ${listed(waves.map(({ name }) => name))}.`)
}

export interface Planning {
  readonly select: (change: Change) => Selected
  /** What was not reviewed is never included: without it, the changes that need it are left out. */
  readonly completesChains?: boolean
  readonly selection?: PlanSelection
}

/** The selection as options for the planner. @param whole returns the plan without the selection. */
export const planningOf = ({ selecting }: Manifests, observed: Observed, whole: () => Plan): Planning | undefined => {
  if (selecting === undefined) return undefined
  const { selection, since, leftOutProjects, choose } = selecting
  if (choose !== undefined) return { select: choose }
  const isBranch = branchMatcher(selection.branches, observed)
  const introduced = since === undefined ? undefined : introducedIn(whole(), since, observed)
  const ids = selection.changes === undefined ? undefined : new Set(selection.changes)
  return {
    select: (change) => {
      if (ids?.has(change.id) === false) return false
      if (!isBranch(change.branch) && !(change.from !== undefined && isBranch(change.from))) return false
      if (introduced === undefined) return true
      const paths = introduced.get(change.id)
      if (paths === undefined) return false
      return paths.size === change.attributes.length || paths
    },
    completesChains: ids === undefined,
    selection: { ...selection, leftOut: { projects: leftOutProjects, changes: 0, dependent: 0 } },
  }
}

type Named = Pick<Change['branch'], 'id' | 'name'>

/** Returns a test for selected branches. @throws {EspalierError} `E_USAGE` if a pattern matches no branch. */
export const branchMatcher = (
  patterns: readonly string[] | undefined,
  { projects }: Pick<Observed, 'projects'>,
): ((branch: Named) => boolean) => {
  if (patterns === undefined) return () => true
  const branches = projects.flatMap((project) => project.branches)
  const matchers = patterns.map((pattern) => {
    const isMatch = globMatcher(pattern)
    const either = ({ id, name }: Named): boolean => isMatch(name) || isMatch(id)
    if (projects.length > 0 && !branches.some(either)) {
      throw usage(
        `--branch ${pattern} matches no branch of these projects.`,
        `They have ${listed([...new Set(branches.map(({ name }) => name))])}.`,
      )
    }
    return either
  })
  return (branch) => matchers.some((isMatch) => isMatch(branch))
}

/** The attributes that were introduced, by the id of the change. */
const introducedIn = (whole: Plan, since: Manifests, observed: Observed): ReadonlyMap<string, ReadonlySet<string>> => {
  const { introduced } = originOf(planOfBase(since, whole.projects, observed), whole)
  return new Map(introduced.map(({ id, attributes }) => [id, new Set(attributes.map(({ path }) => path))]))
}

/** Describes what a run leaves out. Returns `undefined` if it leaves out nothing. */
export const selectionNote = ({ selection, changes }: Plan): string | undefined => {
  if (selection === undefined) return undefined
  const { leftOut, included = [] } = selection
  const { dependent } = leftOut
  if (leftOut.projects + leftOut.changes + included.length === 0) return undefined
  const needs =
    dependent === 0
      ? ''
      : ` ${dependent} of these ${dependent === 1 ? 'is selected, but runs' : 'are selected, but run'} only together with a change that is not selected.`
  const titles = changes.filter(({ id }) => included.includes(id)).map(changeTitle)
  const more =
    titles.length === 0 ? '' : ` Included, because selected changes run only together with them: ${listed(titles)}.`
  return `${selectionWords(selection, [
    [leftOut.projects, 'project'],
    [leftOut.changes, 'change'],
  ])}${needs}${more}`
}

/**
 * Describes a selection, for example `Only projects shop*; branches main. Left out: 3 projects.`
 *
 * @param leftOut the number of items of each kind that are left out.
 */
export const selectionWords = (
  { projects, branches, wave, introducedSince, changes }: Selection,
  leftOut: readonly (readonly [count: number, noun: string])[],
): string => {
  const what = [
    ...(projects === undefined ? [] : [`projects ${projects.join(', ')}`]),
    ...(branches === undefined ? [] : [`branches ${branches.join(', ')}`]),
    ...(wave === undefined ? [] : [`wave ${wave}`]),
    ...(introducedSince === undefined ? [] : [`changes introduced since ${introducedSince.slice(0, 12)}`]),
    ...(changes === undefined ? [] : ['reviewed changes']),
  ].join('; ')
  const without = leftOut.flatMap(([count, noun]) => (count === 0 ? [] : [counted(count, noun)])).join(' and ')
  return `Only ${what}.${without === '' ? '' : ` Left out: ${without}.`}`
}

const MOST_LISTED = 10

const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : listedNames(names, MOST_LISTED))

const usage = (message: string, hint?: string): EspalierError => new EspalierError('E_USAGE', message, { hint })
