/** What changes, computes and places are called. */
import {
  type ChangeKind,
  computeTitle,
  leftOutIds,
  type Plan,
  type ReleasedCompute,
  type Source,
  stepTitle,
} from '../../model/index.ts'
import { plainText } from './plain-text.ts'

export { computeTitle, stepTitle }

export const SYMBOLS: Readonly<Record<ChangeKind, string>> = {
  create: '+',
  update: '~',
  move: '→',
  replace: '-/+',
  delete: '-',
}

export const place = ({ file, line }: Source): string => `${plainText(file)}:${line}`

/** Whether they are of several projects: branches of one name then need the project's beside it. */
export const isOfFleet = (all: Iterable<{ readonly project: string }>): boolean => {
  let first: string | undefined
  for (const { project } of all) {
    first ??= project
    if (project !== first) return true
  }
  return false
}

/** Whether names of branches need that of their project beside them. */
export const hasSeveralProjects = (plan: Plan, released: readonly ReleasedCompute[] = []): boolean =>
  new Set([...plan.projects, ...leftOutIds(plan), ...released.map(({ project }) => project)]).size > 1

/** The name of a project, or its id where the name is not known. */
export const projectTitle =
  ({ projectNames = {} }: Pick<Plan, 'projectNames'>) =>
  (project: string): string =>
    (Object.hasOwn(projectNames, project) ? projectNames[project] : undefined) ?? project
