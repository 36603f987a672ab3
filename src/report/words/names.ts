/** How computes, steps, projects and places in files are named in output. */
import { plainText } from '../../base/index.ts'
import {
  type AttributeChange,
  type Change,
  computeTitle,
  type Diagnostic,
  leftOutIds,
  type NamedBranch,
  type Origin,
  type Plan,
  type Released,
  type Source,
  type Step,
  stepTitle,
} from '../../model/index.ts'

export const place = ({ file, line }: Source): string => `${plainText(file)}:${line}`

/** A compute, and where it is. */
type Placed = Pick<Change, 'compute' | 'project'> & { readonly branch: NamedBranch }

/** `primary on main`, or `primary on main in shop` if `titleOf` is given. */
export const computeOnBranch = ({ compute, branch, project }: Placed, titleOf?: (project: string) => string): string =>
  `${computeTitle(compute)} on ${branch.name}${titleOf === undefined ? '' : ` in ${titleOf(project)}`}`

/** The attributes to show for a change. The name of a new compute is omitted, because its title contains it. */
export const shownAttributes = ({ kind, compute, attributes }: Change): readonly AttributeChange[] =>
  attributes.filter(({ path, afterText }) => kind !== 'create' || path !== 'name' || afterText !== compute.name)

/** How the projects, computes and steps of a plan are named in output. */
export interface PlanNames {
  /** Whether the plan covers several projects, so that branches are shown with their project. */
  readonly isFleet: boolean
  /** Whether the steps belong to several projects. Their titles then include the project. */
  readonly isMixed: boolean
  project(id: string): string
  /** `primary on main`. In a fleet, with ` in shop`. */
  compute(one: Placed): string
  step(step: Step): string
  /** Returns the id itself if the plan has no step with this id. */
  stepById(id: string): string
}

/** @param released what is no longer declared. Its projects may not be in the plan. */
export const planNames = (plan: Plan, released: readonly Released[] = []): PlanNames => {
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const [first] = plan.steps
  const isMixed = plan.steps.some((step) => step.project !== first?.project)
  const isFleet = hasSeveralProjects(plan, released)
  const project = projectTitle(plan)
  const step = (one: Step): string => stepTitle({ ...one, project: project(one.project) }, changes, isMixed)
  return {
    isFleet,
    isMixed,
    project,
    compute: (one) => computeOnBranch(one, isFleet ? project : undefined),
    step,
    stepById: (id) => {
      const known = steps.get(id)
      return known === undefined ? id : step(known)
    },
  }
}

export const hasSeveralProjects = (plan: Plan, released: readonly Released[] = []): boolean =>
  new Set([...plan.projects, ...leftOutIds(plan), ...released.map(({ project }) => project)]).size > 1

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

/** The git ref that a plan is compared with, and the result of the comparison. */
export interface Since {
  readonly ref: string
  readonly origin: Origin
}

/** A step with its number. Steps and changes are numbered from 1, in the order in which the plan lists them. */
export interface NumberedStep {
  readonly step: Step
  readonly number: number
  /** The number of the change that the step belongs to. */
  readonly change: number
  /** The numbers of the steps that must be done before this one. */
  readonly waitsFor: readonly number[]
}

export const numberedSteps = ({ steps, changes }: Plan): readonly NumberedStep[] => {
  const stepNumbers = new Map(steps.map(({ id }, index) => [id, index + 1]))
  const changeNumbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
  return steps.map((step, index) => ({
    step,
    number: index + 1,
    change: changeNumbers.get(step.change) ?? 0,
    waitsFor: step.after.flatMap((id) => stepNumbers.get(id) ?? []),
  }))
}
