/** How computes, steps, projects and places in files are named in output. */
import { plainText } from '../../base/index.ts'
import {
  type AttributeChange,
  type Change,
  computeTitle,
  type Diagnostic,
  leftOutIds,
  type Plan,
  type ReleasedCompute,
  type Source,
  type Step,
  stepTitle,
} from '../../model/index.ts'

export const place = ({ file, line }: Source): string => `${plainText(file)}:${line}`

/** `primary on main`, or `primary on main in shop` if `titleOf` is given. */
export const computeOnBranch = (
  { compute, branch, project }: Pick<Change, 'compute' | 'branch' | 'project'>,
  titleOf?: (project: string) => string,
): string => `${computeTitle(compute)} on ${branch.name}${titleOf === undefined ? '' : ` in ${titleOf(project)}`}`

/** Whether the items belong to more than one project, in which case each must be shown with its project. */
export const isOfFleet = (all: readonly { readonly project: string }[]): boolean =>
  all.some(({ project }) => project !== all[0]?.project)

/** Whether the plan covers more than one project, in which case branches must be shown with their project. */
export const hasSeveralProjects = (plan: Plan, released: readonly ReleasedCompute[] = []): boolean =>
  new Set([...plan.projects, ...leftOutIds(plan), ...released.map(({ project }) => project)]).size > 1

/** The attributes to show for a change. The name of a new compute is omitted, because its title contains it. */
export const shownAttributes = ({ kind, compute, attributes }: Change): readonly AttributeChange[] =>
  attributes.filter(({ path, afterText }) => kind !== 'create' || path !== 'name' || afterText !== compute.name)

/** Titles of steps. They include the project if there are several projects. */
export interface StepNames {
  readonly isFleet: boolean
  of(step: Step): string
  /** Returns the id itself if the plan has no step with this id. */
  byId(id: string): string
}

export const stepNamesOf = (plan: Plan): StepNames => {
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const isFleet = isOfFleet(plan.steps)
  const titleOf = projectTitle(plan)
  const of = (step: Step): string => stepTitle({ ...step, project: titleOf(step.project) }, changes, isFleet)
  const byId = (id: string): string => {
    const step = steps.get(id)
    return step === undefined ? id : of(step)
  }
  return { isFleet, of, byId }
}

export const stepTitles = (plan: Plan): StepNames['of'] => stepNamesOf(plan).of

/** The message, followed by its hint if there is one. */
export const messageOf = ({ message, hint }: Diagnostic): string =>
  hint === undefined ? message : `${message} ${hint}`

/** Adds project names to diagnostics, which contain only ids. */
export const withNamesOf = (plan: Pick<Plan, 'projectNames'>): ((diagnostic: Diagnostic) => Diagnostic) => {
  const titleOf = projectTitle(plan)
  return (diagnostic) => ({
    ...diagnostic,
    message: diagnostic.message.replace(/\b([Pp]roject) `([a-z0-9-]+)`/g, (all, word: string, id: string) => {
      const name = titleOf(id)
      return name === id ? all : `${word} \`${name}\` (${id})`
    }),
  })
}

/** The name of a project, followed by its id if several projects have that name. The id alone if there is no name. */
export const projectTitle = ({ projectNames = {} }: Pick<Plan, 'projectNames'>): ((project: string) => string) => {
  const names = new Map(Object.entries(projectNames))
  const seen = new Set<string>()
  const repeated = new Set([...names.values()].filter((name) => seen.has(name) || !seen.add(name)))
  return (project) => {
    const name = names.get(project)
    if (name === undefined) return project
    return repeated.has(name) && name !== project ? `${name} (${project})` : name
  }
}
