/** Calculates how a plan changes the cost of its projects. */
import { groupBy } from '../base/index.ts'
import {
  type AttributeChange,
  addCosts,
  type Change,
  type ChangeCost,
  type ComputeSettings,
  type CostRange,
  costSummary,
  HOURS_PER_MONTH,
  madeChanges,
  type Observed,
  type ObservedProject,
  type Plan,
  type PlanCost,
  type Price,
  roundCost,
  settingsAfter,
  settingsSetBy,
  totalCost,
} from '../model/index.ts'
import { basisOf, costEffect, costOfUse, FREE, hoursToCome, type LiveUse, liveUses, type Use } from './effect.ts'
import { basisSentence } from './words.ts'

export interface CostOptions {
  /** By project id. */
  readonly priceOf?: (project: string) => Price | undefined
  /** The drift among the changes, for separate sums. Absent without a base. */
  readonly drift?: readonly Change[] | undefined
}

/** A change that is refused is not made, so it costs nothing. */
export const planCost = (
  plan: Pick<Plan, 'projects' | 'changes'>,
  observed: Observed,
  { priceOf = () => undefined, drift }: CostOptions = {},
): PlanCost => {
  const now = Date.parse(observed.takenAt)
  const projects = new Map(observed.projects.map((project) => [project.id, project]))
  const changesOf = groupBy(madeChanges(plan), ({ project }) => project)
  const drifted = new Map(drift?.map((change) => [change.id, change.attributes]))
  const all = plan.projects.flatMap((id) => {
    const project = projects.get(id)
    const changes = changesOf.get(id)
    if (project === undefined || changes === undefined) return []
    const costs = changeCosts(project, changes, now)
    return [{ id, price: priceOf(id), costs, parts: costs.map((one) => partsOf(one, drifted.get(one.change.id))) }]
  })
  const sum = (pick: (one: (typeof all)[number]) => readonly CostRange[]) =>
    totalCost(all.map((one) => costSummary(addCosts(pick(one)), one.price)))
  return {
    model: '2',
    hoursPerMonth: HOURS_PER_MONTH,
    total: sum(({ costs }) => costs.map(({ delta }) => delta)),
    ...(drift && {
      introduced: sum(({ parts }) => parts.map((part) => part.introduced)),
      drift: sum(({ parts }) => parts.map((part) => part.drift)),
    }),
    projects: all.map(({ id, price, costs }) => ({
      project: id,
      ...costSummary(addCosts(costs.map(({ delta }) => delta)), price),
    })),
    computes: all.flatMap(({ costs }) => costs.map(toChangeCost)),
  }
}

interface CostedChange {
  readonly change: Change
  /** Absent if the plan creates the compute. */
  readonly current: LiveUse | undefined
  readonly after: ComputeSettings | undefined
  readonly use: Use
  readonly delta: CostRange
}

/** The expected cost of one compute, unrounded. `null` if it is unknown. */
export interface ComputeCost {
  readonly branchId: string
  readonly expected: number | null
}

/** The effect of each change of a project. Its other branches are left out, because a fleet has many. */
const changeCosts = (project: ObservedProject, changes: readonly Change[], now: number): readonly CostedChange[] => {
  const changed = new Set(changes.map(({ compute }) => compute.id))
  const branches = new Set(project.computes.flatMap(({ id, branchId }) => (changed.has(id) ? [branchId] : [])))
  const live = liveUses(
    project,
    now,
    project.branches.filter(({ id }) => branches.has(id)),
  )
  const byId = new Map(live.map((one) => [one.compute.id, one]))
  const expiry = new Map(project.branches.map((branch) => [branch.id, branch.expiresAt]))
  return changes.map((change) => {
    const current = change.compute.id === undefined ? undefined : byId.get(change.compute.id)
    const after = settingsAfter(change, current?.compute, project.settings?.computeDefaults)
    const hours = hoursToCome(expiry.get(change.branch.id), now)
    // The history of a disabled compute does not show how it will be used.
    const use = current === undefined || current.settings.disabled ? { hours } : { ...current, hours }
    return { change, current, after, use, delta: costEffect(current?.settings, after, use) }
  })
}

/** The computes of a project before and after the changes. */
export const projectCosts = (
  project: ObservedProject,
  changes: readonly Change[],
  now: number,
): { readonly before: readonly ComputeCost[]; readonly after: readonly ComputeCost[] } => {
  const changed = new Set(changes.map(({ compute }) => compute.id))
  const live = liveUses(project, now).map((one) => ({
    branchId: one.branch.id,
    expected: costOfUse(one).expected,
    isChanged: changed.has(one.compute.id),
  }))
  const added = changeCosts(project, changes, now).map((one) => ({
    branchId: one.change.branch.id,
    expected: expectedAfter(one),
  }))
  return { before: live, after: [...live.filter(({ isChanged }) => !isChanged), ...added] }
}

const expectedAfter = ({ current, after, use: { hours }, delta }: CostedChange): number | null => {
  const certain = costEffect(undefined, after, { hours }).expected
  const before = current === undefined ? 0 : costOfUse(current).expected
  return certain ?? (before === null || delta.expected === null ? null : before + delta.expected)
}

/** Splits the effect of a change. What it introduces comes on top of the drift. */
const partsOf = (
  { change, current, after, use, delta }: CostedChange,
  drift: readonly AttributeChange[] | undefined,
): { readonly introduced: CostRange; readonly drift: CostRange } => {
  if (drift === undefined) return { introduced: delta, drift: FREE }
  if (current === undefined || drift.length === change.attributes.length) return { introduced: FREE, drift: delta }
  const between: ComputeSettings = { ...current.settings, ...settingsSetBy(drift) }
  return { introduced: costEffect(between, after, use), drift: costEffect(current.settings, between, use) }
}

const toChangeCost = ({ change, current, delta }: CostedChange): ChangeCost => {
  const isNew = current === undefined
  const basis = isNew
    ? { kind: 'settings' as const, activeHoursPerDay: null, since: null, averageCu: null, flags: [] }
    : basisOf(current)
  return {
    change: change.id,
    delta: roundCost(delta),
    basis,
    sentence: basisSentence(basis, {
      isNew,
      ...(change.kind === 'move' && change.from !== undefined ? { movedFrom: change.from.name } : {}),
    }),
  }
}
