import { compare, didYouMean, groupBy } from '../base/index.ts'
import {
  bySource,
  type Desired,
  type DesiredWave,
  type Diagnostic,
  hasErrors,
  type LeftOutProject,
  type Observed,
  type ObservedProject,
  PLAN_FORMAT_VERSION,
  type Plan,
  type PlanResult,
  type PlanSelection,
  type PlanWave,
  problem,
  type Source,
  summaryOf,
  waveOf,
} from '../model/index.ts'
import { type PlanOptions, type ProjectPlan, planProject } from './plan-project.ts'
import { liveCapacity, withEstimates } from './summary.ts'

/** Ids of the declared projects, sorted and unique. */
export const projectIds = (desired: Desired): readonly string[] =>
  [...new Set(desired.documents.map(({ project }) => project))].sort(compare)

/**
 * Plans the changes that bring live projects in line with the manifests. Pure and deterministic: the order of
 * declarations and observations does not matter. A project with an error is left out; the others are planned.
 */
export const plan = (desired: Desired, observed: Observed, options: PlanOptions = {}): PlanResult => {
  const documents = groupBy(desired.documents, ({ project }) => project)
  const live = new Map(observed.projects.map((project) => [project.id, project]))
  const planned: { readonly project: ObservedProject; readonly part: ProjectPlan }[] = []
  const leftOut: LeftOutProject[] = []
  for (const id of projectIds(desired)) {
    const project = live.get(id)
    const declared = documents.get(id) ?? []
    if (project === undefined) {
      leftOut.push({ project: id, diagnostics: [readingProblem(id, observed, declared[0]?.source)] })
      continue
    }
    const made = planProject(project, { documents: declared }, options, Date.parse(observed.takenAt))
    const part = { ...made, diagnostics: [...made.diagnostics, ...(options.check?.(project, made.changes) ?? [])] }
    if (hasErrors(part.diagnostics)) leftOut.push({ project: id, diagnostics: [...part.diagnostics].sort(bySource) })
    else planned.push({ project, part })
  }

  const projects = planned.map(({ project }) => project)
  const parts = planned.map(({ part }) => part)
  const changes = parts.flatMap((part) => part.changes)
  const steps = parts.flatMap((part) => part.steps)
  const unmanaged = parts.flatMap((part) => part.unmanaged)
  const skipped = parts.flatMap((part) => part.skipped)
  const expiring = parts.flatMap((part) => part.expiring)
  const made: Plan = {
    formatVersion: PLAN_FORMAT_VERSION,
    projects: projects.map(({ id }) => id),
    ...namesOf(observed.projects),
    ...(leftOut.length > 0 && { leftOut }),
    ...(desired.waves && { waves: wavesIn(desired.waves, projectIds(desired)) }),
    ...(options.selection && { selection: withCounts(options.selection, parts) }),
    changes,
    steps,
    unmanaged,
    estimates: [],
    summary: {
      ...summaryOf(changes, liveCapacity(projects)),
      unmanaged: unmanaged.length,
      managed: parts.reduce((sum, { managed }) => sum + managed, 0),
      calls: steps.length,
    },
    ...(skipped.length > 0 && { skipped }),
    ...(expiring.length > 0 && { expiring }),
    warnings: parts.flatMap(({ diagnostics }) => diagnostics).sort(bySource),
  }
  const whole = withEstimates(made, observed)
  if (leftOut.length === 0) return { ok: true, plan: whole }
  return { ok: false, plan: whole, diagnostics: leftOut.flatMap(({ diagnostics }) => diagnostics).sort(bySource) }
}

const withCounts = (selection: PlanSelection, parts: readonly ProjectPlan[]): PlanSelection => {
  const included = parts.flatMap((part) => part.included).sort(compare)
  return {
    ...selection,
    leftOut: {
      projects: selection.leftOut.projects,
      changes: parts.reduce((sum, { leftOut }) => sum + leftOut.changes, 0),
      dependent: parts.reduce((sum, { leftOut }) => sum + leftOut.dependent, 0),
    },
    ...(included.length > 0 && { included }),
  }
}

const wavesIn = (waves: readonly DesiredWave[], projects: readonly string[]): readonly PlanWave[] =>
  waves.map(({ name }, at) => ({ name, projects: projects.filter((project) => waveOf(waves, project) === at) }))

const namesOf = (projects: readonly ObservedProject[]): Pick<Plan, 'projectNames'> => {
  // Includes projects that were left out or that only the base declares, because they are shown too.
  const sorted = projects.toSorted((a, b) => compare(a.id, b.id))
  const named = sorted.flatMap(({ id, name }) => (name === undefined ? [] : [[id, name] as const]))
  return named.length === 0 ? {} : { projectNames: Object.fromEntries(named) }
}

/** Why the project cannot be planned: `id` is not among the observed projects. */
const readingProblem = (id: string, observed: Observed, source?: Source): Diagnostic => {
  const { projects, namesakes = [], unreadable = [] } = observed
  const failed = unreadable.find((project) => project.id === id)
  if (failed !== undefined) {
    const message = `Project \`${id}\` could not be read. ${failed.message}.`
    return problem('E_PROJECT_UNREADABLE', message, failed.hint, source)
  }
  const ids = namesakes.find(({ name }) => name === id)?.ids
  if (ids !== undefined) {
    const hint = `\`${id}\` is the name of ${ids.map((one) => `\`${one}\``).join(' and of ')}. Write the id.`
    return problem('E_PROJECT_UNKNOWN', `No project has the id \`${id}\`.`, hint, source)
  }
  const known = projects.map((project) => project.id)
  return problem(
    'E_PROJECT_UNKNOWN',
    `There is no project \`${id}\`, or the key has no access to it.`,
    didYouMean(id, known) ?? 'Check the project id and the key.',
    source,
  )
}

/** Requested projects that could not be observed. */
export const unreadProjects = (observed: Observed): readonly LeftOutProject[] => {
  const { missing, unreadable = [] } = observed
  const ids = [...missing, ...unreadable.map(({ id }) => id)]
  return ids.map((project) => ({ project, diagnostics: [readingProblem(project, observed)] }))
}
