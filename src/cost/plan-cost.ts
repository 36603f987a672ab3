/** What a plan does to the cost of its projects: a pure function of the plan and the snapshot. */
import { groupBy } from '../base/index.ts'
import {
  type Change,
  type ChangeCost,
  type CostRange,
  type CostSummary,
  type CostTotal,
  HOURS_PER_MONTH,
  type Money,
  type Observed,
  type ObservedProject,
  type Plan,
  type PlanCost,
  type Price,
  type ProjectCost,
  type Step,
  settingsAfter,
} from '../model/index.ts'
import {
  addRanges,
  type Estimate,
  estimateCreate,
  estimateDelete,
  estimateReplace,
  estimateUpdate,
  hoursToCome,
  rounded,
  toCents,
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
  const sums = plan.projects.map((id): ProjectSum => {
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
    const price = priceOf(id)
    return {
      project: id,
      before: addRanges(before),
      after: addRanges([...after.values()]),
      delta: addRanges(deltas),
      ...(price === undefined ? {} : { price }),
    }
  })
  return {
    model: '1',
    hoursPerMonth: HOURS_PER_MONTH,
    total: summary({
      before: addTotals(sums.map(({ before }) => before)),
      after: addTotals(sums.map(({ after }) => after)),
      delta: addTotals(sums.map(({ delta }) => delta)),
      ...onlyPrice(sums),
    }),
    projects: sums.map((sum): ProjectCost => ({ project: sum.project, ...summary(sum) })),
    computes,
  }
}

interface Sum {
  readonly before: CostTotal
  readonly after: CostTotal
  readonly delta: CostTotal
  readonly price?: Price
}

interface ProjectSum extends Sum {
  readonly project: string
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
    before: rounded(estimate.before),
    after: rounded(estimate.after),
    delta: rounded(estimate.delta),
    basis,
    sentence: basisSentence(basis, {
      isNew,
      ...(change.kind === 'move' && change.from !== undefined ? { movedFrom: change.from.name } : {}),
    }),
  }
}

const addTotals = (totals: readonly CostTotal[]): CostTotal => ({
  ...addRanges(totals),
  unknown: totals.reduce((sum, { unknown }) => sum + unknown, 0),
})

/** Amounts at different prices are not added. */
const onlyPrice = (sums: readonly ProjectSum[]): { readonly price?: Price } => {
  const [first, ...others] = sums.map(({ price }) => price)
  const isOne = others.every((other) => other?.cuHour === first?.cuHour && other?.currency === first?.currency)
  return first !== undefined && isOne ? { price: first } : {}
}

const summary = ({ before, after, delta, price }: Sum): CostSummary => ({
  before: rounded(before),
  after: rounded(after),
  delta: rounded(delta),
  ...(price === undefined ? {} : { money: moneyOf(price, before, after, delta) }),
})

const moneyOf = (price: Price, before: CostTotal, after: CostTotal, delta: CostTotal): Money => {
  const amount = ({ expected }: CostTotal): number | null =>
    expected === null ? null : toCents(expected * price.cuHour)
  return { price, before: amount(before), after: amount(after), delta: amount(delta) }
}
