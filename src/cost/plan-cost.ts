/** What a plan does to the cost of its projects: a pure function of the plan and the snapshot. */
import { groupBy } from '../base/index.ts'
import {
  addCosts,
  type Change,
  type ChangeCost,
  type CostRange,
  costSummary,
  HOURS_PER_MONTH,
  type Observed,
  type ObservedProject,
  type Plan,
  type PlanCost,
  type Price,
  type ProjectCost,
  roundCost,
  type Step,
  settingsAfter,
  totalCost,
} from '../model/index.ts'
import {
  type Estimate,
  estimateCreate,
  estimateDelete,
  estimateReplace,
  estimateUpdate,
  hoursToCome,
  ZERO,
} from './estimate.ts'
import { basisOf, type LiveCost, liveCosts } from './live-cost.ts'
import { basisSentence } from './words.ts'

export interface CostOptions {
  /** By project id. */
  readonly priceOf?: (project: string) => Price | undefined
}

export const planCost = (
  plan: Pick<Plan, 'projects' | 'changes' | 'steps'>,
  observed: Observed,
  { priceOf = () => undefined }: CostOptions = {},
): PlanCost => {
  const now = Date.parse(observed.takenAt)
  const projects = new Map(observed.projects.map((project) => [project.id, project]))
  const changesOf = groupBy(plan.changes, ({ project }) => project)
  const stepsOf = groupBy(plan.steps, ({ change }) => change)
  const computes: ChangeCost[] = []
  const summaries = plan.projects.map((id): ProjectCost => {
    const project = projects.get(id)
    const live = project === undefined ? [] : liveCosts(project, now)
    const expiry = new Map(project?.branches.map((branch) => [branch.id, branch.expiresAt]))
    const byId = new Map(live.map((one) => [one.compute.id, one]))
    const before = live.map(({ cost }) => cost)
    const after = new Map<string, CostRange>(live.map(({ compute, cost }) => [compute.id, cost]))
    const deltas: CostRange[] = []
    for (const change of changesOf.get(id) ?? []) {
      const current = change.compute.id === undefined ? undefined : byId.get(change.compute.id)
      const estimate = estimateOf(change, stepsOf.get(change.id) ?? [], current, project, expiry, now)
      computes.push(toChangeCost(change, current, estimate))
      after.set(change.compute.id ?? change.id, estimate.after)
      deltas.push(estimate.delta)
    }
    const sums = { before: addCosts(before), after: addCosts([...after.values()]), delta: addCosts(deltas) }
    return { project: id, ...costSummary(sums, priceOf(id)) }
  })
  return {
    model: '1',
    hoursPerMonth: HOURS_PER_MONTH,
    total: totalCost(summaries),
    projects: summaries.filter(({ project }) => changesOf.has(project)),
    computes,
  }
}

/** A change that is refused does not run, so it changes nothing. */
const estimateOf = (
  change: Change,
  steps: readonly Step[],
  current: LiveCost | undefined,
  project: ObservedProject | undefined,
  expiry: ReadonlyMap<string, string | undefined>,
  now: number,
): Estimate => {
  if (change.refused !== undefined) {
    const cost = current?.cost ?? ZERO
    return { before: cost, after: cost, delta: ZERO, flags: current?.usage?.flags ?? [] }
  }
  const hours = hoursToCome(expiry.get(change.branch.id), now)
  const settings = settingsAfter(change, steps, current?.compute, project?.settings?.computeDefaults)
  if (settings === undefined) return current === undefined ? NOTHING : estimateDelete(current)
  if (change.kind === 'create' || current === undefined) return estimateCreate({ settings, hours })
  if (change.kind === 'replace') return estimateReplace(current, { settings, hours })
  return estimateUpdate(current, { settings, hours }, change.kind === 'move')
}

const NOTHING: Estimate = { before: ZERO, after: ZERO, delta: ZERO, flags: [] }

const toChangeCost = (change: Change, current: LiveCost | undefined, estimate: Estimate): ChangeCost => {
  const isNew = current === undefined || change.kind === 'create' || change.kind === 'replace'
  const basis = isNew
    ? { kind: 'settings' as const, activeHoursPerDay: null, since: null, averageCu: null, flags: [] }
    : basisOf(current, estimate.flags)
  return {
    change: change.id,
    before: roundCost(estimate.before),
    after: roundCost(estimate.after),
    delta: roundCost(estimate.delta),
    basis,
    sentence: basisSentence(basis, {
      isNew,
      ...(change.kind === 'move' && change.from !== undefined ? { movedFrom: change.from.name } : {}),
    }),
  }
}
