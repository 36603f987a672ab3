import { computeTitle, type Plan } from '../model/index.ts'

/** Limits on what one run may change. */
export interface Budgets {
  readonly maxRestarts?: number | undefined
  readonly maxDeletes?: number | undefined
  /** The maximum increase in the sum of the computes' upper size limits, in CU. */
  readonly maxCuIncrease?: number | undefined
  /** The maximum increase in expected CU-hours per month. If a value is unknown, its upper bound counts. */
  readonly maxCuHoursIncrease?: number | undefined
}

/** A sentence for each budget that the plan exceeds. */
export const checkBudgets = ({ summary, changes, cost }: Plan, budgets: Budgets): readonly string[] => {
  const increase = summary.capacity.after.maxCu - summary.capacity.before.maxCu
  const over = (used: number, limit: number | undefined, flag: string, what: string): readonly string[] =>
    limit === undefined || used <= limit ? [] : [`The plan ${what}; ${flag} allows ${limit}.`]
  const restarts = summary.restarts + summary.mayRestart
  const deletes = summary.delete + summary.replace
  return [
    ...over(restarts, budgets.maxRestarts, '--max-restarts', `restarts ${counted(restarts, 'compute')}`),
    ...over(deletes, budgets.maxDeletes, '--max-deletes', `deletes ${counted(deletes, 'compute')}`),
    ...over(increase, budgets.maxCuIncrease, '--max-cu-increase', `adds ${increase} CU`),
    ...(budgets.maxCuIncrease === undefined ? [] : unsized(changes)),
    ...overCuHours(cost, changes, budgets.maxCuHoursIncrease),
  ]
}

const MOST_NAMED = 3

const overCuHours = (cost: Plan['cost'], changes: Plan['changes'], limit: number | undefined): readonly string[] => {
  if (limit === undefined) return []
  const computes = cost?.computes ?? []
  const boundless = cost === undefined || computes.some(({ delta }) => delta.expected === null && delta.high === null)
  if (boundless)
    return ['It is not known how many CU-hours the plan adds, so --max-cu-hours-increase cannot be checked.']
  const increase = computes.reduce((sum, { delta }) => sum + (delta.expected ?? delta.high ?? 0), 0)
  if (increase <= limit) return []
  const unknown = new Set(computes.filter(({ delta }) => delta.expected === null).map(({ change }) => change))
  const names = changes
    .filter(({ id }) => unknown.has(id))
    .map(({ compute, branch }) => `${computeTitle(compute)} on ${branch.name}`)
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  const note = names.length === 0 ? '' : ` (unknown: ${names.slice(0, MOST_NAMED).join(', ')}${more})`
  return [
    `The plan ${names.length === 0 ? 'adds' : 'may add up to'} ${Math.round(increase * 100) / 100} CU-hours a month${note}; --max-cu-hours-increase allows ${limit}.`,
  ]
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The problem with computes that are created without a size: they get the project's default, which is unknown. */
const unsized = (changes: Plan['changes']): readonly string[] =>
  changes
    .filter(({ kind, after }) => (kind === 'create' || kind === 'replace') && after === undefined)
    .map(
      ({ branch }) =>
        `The plan creates a compute on branch \`${branch.name}\` without a size, so --max-cu-increase cannot be checked: set its size in the manifest.`,
    )
