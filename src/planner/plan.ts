import { groupBy } from '../base/index.ts'
import {
  type Desired,
  type DesiredDocument,
  type Diagnostic,
  type Observed,
  PLAN_FORMAT_VERSION,
  type Plan,
  type PlanResult,
  SIZE_TABLE,
} from '../model/index.ts'
import { bySource, meant, problem } from './diagnostics.ts'
import type { PlanOptions } from './options.ts'
import { planProject } from './plan-project.ts'
import { compare, compareSource } from './sort.ts'
import { summarise, withEstimates } from './summary.ts'

/** The projects that the manifests speak of, sorted, each once. */
export const projectIds = (desired: Desired): readonly string[] =>
  [...new Set(desired.documents.map(({ project }) => project))].sort(compare)

/**
 * What brings the live projects to what the manifests ask for. Pure: the same input gives the same bytes, in whatever
 * order declarations and observations are listed.
 *
 * @returns the plan with its warnings, or every error that stands against there being one.
 */
export const plan = (desired: Desired, observed: Observed, options: PlanOptions = {}): PlanResult => {
  const documents = groupByProject(desired)
  const live = new Map(observed.projects.map((project) => [project.id, project]))
  const ids = projectIds(desired)
  const diagnostics: Diagnostic[] = []
  const parts = ids.flatMap((id) => {
    const project = live.get(id)
    const declared = documents.get(id) ?? []
    if (project === undefined) {
      diagnostics.push(unknownProject(id, declared, [...live.keys()]))
      return []
    }
    return [planProject(project, declared, options)]
  })
  const sorted = [...diagnostics, ...parts.flatMap((part) => part.diagnostics)].sort(bySource)
  if (sorted.some(({ severity }) => severity === 'error')) return { ok: false, diagnostics: sorted }

  const changes = parts.flatMap((part) => part.changes)
  const steps = parts.flatMap((part) => part.steps)
  const unmanaged = parts.flatMap((part) => part.unmanaged)
  const managed = parts.reduce((sum, part) => sum + part.managed, 0)
  const projects = ids.map((id) => live.get(id)).filter((project) => project !== undefined)
  const made: Plan = {
    formatVersion: PLAN_FORMAT_VERSION,
    projects: ids,
    changes,
    steps,
    unmanaged,
    estimates: [],
    summary: summarise(
      projects,
      changes,
      steps,
      { unmanaged: unmanaged.length, managed },
      options.sizeTable ?? SIZE_TABLE,
    ),
    warnings: sorted,
  }
  return { ok: true, plan: withEstimates(made, observed) }
}

const groupByProject = (desired: Desired): ReadonlyMap<string, readonly DesiredDocument[]> => {
  const groups = groupBy(desired.documents, ({ project }) => project)
  // Rules of several documents are tried in the order of their places, not of their loading.
  for (const group of groups.values()) group.sort((a, b) => compareSource(a.source, b.source))
  return groups
}

const unknownProject = (id: string, [document]: readonly DesiredDocument[], known: readonly string[]): Diagnostic =>
  problem(
    'E_PROJECT_UNKNOWN',
    `There is no project \`${id}\`, or the key cannot see it.`,
    meant(id, known, 'Check the project id and the key.'),
    document?.source,
  )
