/** Adds cost, limits, policies and planned service updates to a plan. */

import { formatUtc, groupBy } from '../base/index.ts'
import { planCost, projectCosts } from '../cost/index.ts'
import {
  type Change,
  type Desired,
  type DesiredDocument,
  type Diagnostic,
  madeChanges,
  type Observed,
  type ObservedProject,
  type Plan,
  type PlannedUpdate,
  unsettledIn,
  unsettledWarning,
  updateDue,
  warning,
} from '../model/index.ts'
import { type Opening, openingOf } from '../model/window-opening.ts'
import { checkTierCuHours, meetingOf, tierOfProject, updateRestarts } from '../service/index.ts'
import { type JudgeOptions, judgePlan } from './judge-plan.ts'

/** Returns a function that gives a project's declared price or tier. */
export const declaredFor = <K extends 'price' | 'tier'>({ documents }: Desired, key: K) => {
  const declared = new Map(documents.flatMap((one) => (one[key] === undefined ? [] : [[one.project, one[key]]])))
  return (project: string): DesiredDocument[K] | undefined => declared.get(project)
}

/** @param base the manifests with which policies compare the plan. */
export const reviewPlan = (
  plan: Plan,
  observed: Observed,
  desired: Desired,
  options: JudgeOptions & { readonly drift?: readonly Change[] | undefined } = {},
  base?: Desired,
): Plan => {
  // What a policy denies costs nothing.
  const judged = judgePlan(plan, observed, desired, options, base)
  const cost = planCost(judged, observed, { priceOf: declaredFor(desired, 'price'), drift: options.drift })
  const maintenance = plannedUpdates(judged, observed)
  return {
    ...judged,
    warnings: [
      ...judged.warnings,
      ...usageWarnings({ ...judged, cost }, observed, desired),
      ...unsettledIn(observed.projects, judged).map(unsettledWarning),
    ],
    cost,
    ...(maintenance.length === 0 ? {} : { maintenance }),
  }
}

/** Warns if more CU-hours are expected than the account plan includes or a quota allows. */
const usageWarnings = (plan: Plan, observed: Observed, desired: Desired): readonly Diagnostic[] => {
  const tierFor = declaredFor(desired, 'tier')
  const live = new Map(observed.projects.map((project) => [project.id, project]))
  const made = groupBy(madeChanges(plan), ({ project }) => project)
  return (plan.cost?.projects ?? []).flatMap(({ project: id, delta }): readonly Diagnostic[] => {
    const project = live.get(id)
    // If the plan adds no CU-hours, it is not the cause.
    if (project === undefined || (delta.high ?? 1) <= 0) return []
    const tier = tierOfProject(project, tierFor(id))
    const quota = project.settings?.quota?.computeSeconds
    if (tier?.cuHours === undefined && quota === undefined) return []
    const { after } = projectCosts(project, made.get(id) ?? [], Date.parse(observed.takenAt))
    const expected = after.reduce((sum, one) => sum + (one.expected ?? 0), 0)
    const warnings = tier === undefined ? [] : [...checkTierCuHours(id, expected, tier)]
    if (quota !== undefined && expected * 3600 > quota) {
      const message = `Project \`${id}\` has a quota of ${Math.round(quota / 3600)} CU-hours per period, but about ${Math.round(expected)} are expected after this plan.`
      warnings.push(warning('W_QUOTA', message, 'All its computes are suspended once the quota is used up.'))
    }
    return warnings
  })
}

const plannedUpdates = (plan: Plan, observed: Observed): readonly PlannedUpdate[] => {
  const now = Date.parse(observed.takenAt)
  const live = new Map(observed.projects.map((project) => [project.id, project]))
  return plan.changes.flatMap((change): readonly PlannedUpdate[] => {
    const project = live.get(change.project)
    const due = updateDue(project?.settings, now)
    const sentence = project && due && updateSentence(change, project, due, now)
    return sentence
      ? [{ change: change.id, project: change.project, scheduledFor: new Date(due).toISOString(), sentence }]
      : []
  })
}

const updateSentence = (change: Change, project: ObservedProject, due: number, now: number): string | undefined => {
  const compute = project.computes.find(({ id }) => id === change.compute.id)
  const restarts = compute === undefined ? 'no' : updateRestarts(compute, due)
  // A compute that is deleted or disconnected is not updated.
  if (restarts === 'no' || change.refused !== undefined || NOT_UPDATED.has(change.impact)) return undefined
  const at = formatUtc(due)
  const may = restarts === 'maybe' ? 'may restart' : 'restarts'
  if (change.impact === 'none') return `${may} anyway on ${at} for a service update`
  const opening = change.windows === undefined ? undefined : openingOf(change.windows, now)
  const opens = opening === undefined || opening.isOpen ? now : Date.parse(opening.opensAt ?? '')
  switch (meetingOf(opens, due)) {
    case 'takes-update':
      return `this restart also applies the service update of ${at}: one restart instead of two`
    case 'same-time':
      return `its window opens at the time of the service update, ${at}: one restart if this one is first, otherwise two`
    case 'restarts-twice':
      return `${may} twice: on ${at} for a service update, and ${laterWords(change, opening)} for this change. To restart once, run \`espalier apply --now\` before the update`
  }
}

const laterWords = ({ windows = [] }: Change, opening: Opening | undefined): string =>
  opening?.opensLocally === undefined ? 'later' : `on ${opening.opensLocally} ${windows[0]?.timezone}`

const NOT_UPDATED: ReadonlySet<string> = new Set(['disconnect', 'replace', 'delete'])
