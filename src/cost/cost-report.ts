/** The cost of live computes, for `espalier cost`. */
import { groupBy } from '../base/index.ts'
import {
  addCosts,
  amountOf,
  type CostBasis,
  type CostRange,
  type CostTotal,
  commonPrice,
  computeTitle,
  HOURS_PER_MONTH,
  type Observed,
  type Price,
  roundCost,
  type Size,
  toCents,
} from '../model/index.ts'
import { type Advice, adviceFor, bySaving, type DeclaredPlace, type SavingKey } from './advice.ts'
import { basisOf, type LiveCost, liveCosts } from './effect.ts'
import { basisSentence } from './words.ts'

export interface Spending {
  readonly cost: CostTotal
  /** Absent without a price, and in a total across several prices. */
  readonly money?: { readonly price: Price; readonly expected: number | null }
}

export interface ProjectSpending extends Spending {
  readonly project: string
  readonly name: string | null
  /** The account's plan, as the service names it. */
  readonly tier: string | null
  readonly period: { readonly start: string; readonly end: string } | null
}

export interface BranchSpending extends Spending {
  readonly project: string
  readonly branch: string
}

export interface ComputeSpending {
  readonly project: string
  readonly branch: string
  readonly compute: string
  /** `primary`, `replica reporting`. */
  readonly title: string
  readonly size: Size | null
  /** Seconds. 0: the default; −1: never. */
  readonly scaleToZero: number | null
  readonly disabled: boolean
  readonly cost: CostRange
  readonly basis: CostBasis
  readonly sentence: string
}

/** The lists are sorted by cost, and the advice by savings, highest first. */
export interface CostReport {
  readonly model: '1'
  readonly hoursPerMonth: typeof HOURS_PER_MONTH
  readonly takenAt: string
  readonly total: Spending
  readonly projects: readonly ProjectSpending[]
  readonly branches: readonly BranchSpending[]
  readonly computes: readonly ComputeSpending[]
  readonly advice: readonly Advice[]
}

export interface CostReportOptions {
  readonly priceOf?: (project: string) => Price | undefined
  /** Where the manifests set an attribute of a compute, or would set it. */
  readonly placeOf?: (project: string, compute: string, key: SavingKey) => DeclaredPlace | undefined
}

const MOST_ADVICE = 10

export const costReport = (
  observed: Observed,
  { priceOf = () => undefined, placeOf = () => undefined }: CostReportOptions = {},
): CostReport => {
  const now = Date.parse(observed.takenAt)
  const all = observed.projects.map((project) => ({
    project,
    costs: liveCosts(project, now),
    price: priceOf(project.id),
  }))
  const everyCost = all.flatMap(({ costs }) => costs)
  const branches = all.flatMap(({ project, costs, price }) =>
    [...groupBy(costs, ({ branch }) => branch.id).values()].map((own) => ({ project: project.id, costs: own, price })),
  )
  const computes = all.flatMap(({ project, costs }) => costs.map((one) => ({ project: project.id, costs: [one], one })))
  return {
    model: '1',
    hoursPerMonth: HOURS_PER_MONTH,
    takenAt: observed.takenAt,
    total: spending(everyCost, commonPrice(all.map(({ price }) => price))),
    projects: worstFirst(all).map(({ project: { id, name, settings }, costs, price }) => ({
      project: id,
      name: name ?? null,
      tier: settings?.subscription ?? null,
      period: settings?.period ?? null,
      ...spending(costs, price),
    })),
    branches: worstFirst(branches).map(({ project, costs, price }) => ({
      project,
      branch: costs[0]?.branch.name ?? '',
      ...spending(costs, price),
    })),
    computes: worstFirst(computes).map(({ project, one }) => computeSpending(project, one)),
    advice: all
      .flatMap(({ project: { id }, costs }) =>
        adviceFor(costs, { project: id, placeOf: (compute, key) => placeOf(id, compute, key) }),
      )
      .sort(bySaving)
      .slice(0, MOST_ADVICE)
      .map((advice) => ({ ...advice, saves: toCents(advice.saves) })),
  }
}

const spending = (costs: readonly LiveCost[], price: Price | undefined): Spending => {
  const cost = addCosts(costs.map((one) => one.cost))
  return {
    cost: roundCost(cost),
    ...(price === undefined ? {} : { money: { price, expected: amountOf(cost.expected, price) } }),
  }
}

const computeSpending = (project: string, one: LiveCost): ComputeSpending => {
  const { compute, branch, settings, cost } = one
  const basis = basisOf(one)
  return {
    project,
    branch: branch.name,
    compute: compute.id,
    title: titleOf(compute),
    size: settings.size ?? null,
    scaleToZero: settings.scaleToZero ?? null,
    disabled: settings.disabled,
    cost: roundCost(cost),
    basis,
    sentence: settings.disabled ? 'disabled' : basisSentence(basis),
  }
}

const titleOf = ({ id, type, attributes: { name } }: LiveCost['compute']): string =>
  computeTitle({ type, name: name ?? (type === 'read_only' ? id : undefined) })

/** An unknown cost is ranked by its upper bound. */
const worstFirst = <T extends { readonly costs: readonly LiveCost[] }>(all: readonly T[]): readonly T[] => {
  const weight = ({ costs }: T): number =>
    costs.reduce((sum, { cost: { expected, high } }) => sum + (expected ?? high ?? Number.POSITIVE_INFINITY), 0)
  return all
    .map((one) => [weight(one), one] as const)
    .sort(([a], [b]) => (a === b ? 0 : b - a))
    .map(([, one]) => one)
}
