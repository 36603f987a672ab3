/** Calculates how a plan changes the cost of its projects. */
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
  basisOf,
  type Estimate,
  estimateCreate,
  estimateDelete,
  estimateReplace,
  estimateUpdate,
  hoursToCome,
  type LiveCost,
  liveCosts,
  ZERO,
} from './estimate.ts'
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
    const costs = project && projectCosts(project, changesOf.get(id) ?? [], stepsOf, now)
    computes.push(...(costs?.changes.map(toChangeCost) ?? []))
    const sums = {
      before: addCosts(costs?.before.map(({ cost }) => cost) ?? []),
      after: addCosts(costs?.after.map(({ cost }) => cost) ?? []),
      delta: addCosts(costs?.changes.map(({ estimate }) => estimate.delta) ?? []),
    }
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

/** Cost of one compute, unrounded. */
export interface ComputeCost {
  readonly branchId: string
  readonly cost: CostRange
}

interface EstimatedChange {
  readonly change: Change
  /** Absent if the plan creates the compute. */
  readonly current: LiveCost | undefined
  readonly estimate: Estimate
}

/** All computes of a project before and after a plan, and the cost of each change. */
export const projectCosts = (
  project: ObservedProject,
  changes: readonly Change[],
  stepsOf: ReadonlyMap<string, readonly Step[]>,
  now: number,
): {
  readonly before: readonly ComputeCost[]
  readonly after: readonly ComputeCost[]
  readonly changes: readonly EstimatedChange[]
} => {
  const live = liveCosts(project, now)
  const before = live.map(({ compute, cost }) => ({ branchId: compute.branchId, cost }))
  if (changes.length === 0) return { before, after: before, changes: [] }
  const byId = new Map(live.map((one) => [one.compute.id, one]))
  const expiry = new Map(project.branches.map((branch) => [branch.id, branch.expiresAt]))
  const estimated = changes.map((change): EstimatedChange => {
    const current = change.compute.id === undefined ? undefined : byId.get(change.compute.id)
    const steps = stepsOf.get(change.id) ?? []
    return { change, current, estimate: estimateOf(change, steps, current, project, expiry, now) }
  })
  const changed = new Set(changes.map(({ compute }) => compute.id))
  return {
    before,
    after: [
      ...live.flatMap(({ compute, cost }) => (changed.has(compute.id) ? [] : [{ branchId: compute.branchId, cost }])),
      ...estimated.map(({ change, current, estimate }) => ({
        branchId: change.refused === undefined ? change.branch.id : (current?.compute.branchId ?? change.branch.id),
        cost: estimate.after,
      })),
    ],
    changes: estimated,
  }
}

/** A refused change does not run, so it does not change the cost. */
const estimateOf = (
  change: Change,
  steps: readonly Step[],
  current: LiveCost | undefined,
  project: ObservedProject,
  expiry: ReadonlyMap<string, string | undefined>,
  now: number,
): Estimate => {
  if (change.refused !== undefined) {
    const cost = current?.cost ?? ZERO
    return { before: cost, after: cost, delta: ZERO, flags: current?.usage?.flags ?? [] }
  }
  const hours = hoursToCome(expiry.get(change.branch.id), now)
  const settings = settingsAfter(change, steps, current?.compute, project.settings?.computeDefaults)
  if (settings === undefined) return current === undefined ? NOTHING : estimateDelete(current)
  if (change.kind === 'create' || current === undefined) return estimateCreate({ settings, hours })
  if (change.kind === 'replace') return estimateReplace(current, { settings, hours })
  return estimateUpdate(current, { settings, hours }, change.kind === 'move')
}

const NOTHING: Estimate = { before: ZERO, after: ZERO, delta: ZERO, flags: [] }

const toChangeCost = ({ change, current, estimate }: EstimatedChange): ChangeCost => {
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
