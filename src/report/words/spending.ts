/** The table rows and sentences that `espalier cost` shows. */
import { counted, groupBy } from '../../base/index.ts'
import {
  type Advice,
  type CostReport,
  type Edit,
  formatCuHours,
  formatHoursPerDay,
  formatMoney,
  formatPrice,
  type Spending,
} from '../../cost/index.ts'
import { formatSize } from '../../model/index.ts'
import { place } from './names.ts'

export type SpendingBy = 'compute' | 'branch' | 'project'

export const SPENDING_COLUMNS = [
  { title: 'CU-hours a month', key: 'expected', type: 'number' },
  { title: 'at most', key: 'most', type: 'number' },
  { title: 'amount', key: 'amount', type: 'number' },
  { title: 'active', key: 'active', type: 'text' },
  { title: 'size', key: 'size', type: 'text' },
  { title: 'project', key: 'project', type: 'name' },
  { title: 'branch', key: 'branch', type: 'name' },
  { title: 'compute', key: 'compute', type: 'name' },
] as const

/** A compute, a branch or a project. Keys that do not apply are absent. With only one project, so is `project`. */
export type SpendingRow = Readonly<Partial<Record<(typeof SPENDING_COLUMNS)[number]['key'] | 'saving', string>>>

export const spendingRows = (report: CostReport, by: SpendingBy): readonly SpendingRow[] => {
  const { ofCompute, ofTotal } = rowsOf(report)
  if (by === 'compute') return report.computes.map(ofCompute)
  if (by === 'branch') return report.branches.map(ofTotal)
  return report.projects.map((one) => ofTotal({ ...one, title: one.name ?? one.project }))
}

const rowsOf = (report: CostReport) => {
  const isFleet = report.projects.length > 1
  const nameOf = new Map(report.projects.map(({ project, name }) => [project, name ?? project]))
  const titleOf = (project: string): string => (isFleet ? (nameOf.get(project) ?? project) : '')
  const saving = new Map(report.advice.map((advice) => [advice.compute, savingWords(advice)]))
  return {
    ofCompute: (one: CostReport['computes'][number]): SpendingRow => ({
      expected: formatCuHours(one.cost.expected),
      most: formatCuHours(one.cost.high),
      active: one.disabled ? 'disabled' : activeWords(one.basis),
      size: one.size === null ? 'unknown' : formatSize(one.size),
      project: titleOf(one.project),
      branch: one.branch,
      compute: one.title,
      saving: saving.get(one.compute) ?? '',
    }),
    ofTotal: (one: Spending & { project: string; branch?: string; title?: string }): SpendingRow => ({
      expected: totalWords(one),
      most: formatCuHours(one.cost.high),
      amount: amountWords(one),
      project: one.title ?? titleOf(one.project),
      branch: one.branch ?? '',
    }),
  }
}

/** The rows of all computes, each group below a row with the total of its branch or project if it has several rows. */
export const groupedSpendingRows = (report: CostReport): readonly SpendingRow[] => {
  const { ofCompute, ofTotal } = rowsOf(report)
  const computesOf = groupBy(report.computes, ({ project, branch }) => `${project}/${branch}`)
  const branchesOf = groupBy(report.branches, ({ project }) => project)
  return report.projects.flatMap((one) => {
    const own = (branchesOf.get(one.project) ?? []).flatMap((branch) =>
      withTotal(ofTotal(branch), (computesOf.get(`${one.project}/${branch.branch}`) ?? []).map(ofCompute)),
    )
    return report.projects.length > 1 ? withTotal(ofTotal(one), own) : own
  })
}

const withTotal = (total: SpendingRow, rows: readonly SpendingRow[]): readonly SpendingRow[] =>
  rows.length > 1 ? [{ ...total, compute: 'total' }, ...rows] : rows

/** The columns that have a value in at least one row. */
export const spendingColumns = (rows: readonly SpendingRow[]) =>
  SPENDING_COLUMNS.filter(({ key }) => rows.some((row) => (row[key] ?? '') !== ''))

const activeWords = ({ kind, activeHoursPerDay }: CostReport['computes'][number]['basis']): string => {
  if (kind === 'settings') return '24 h a day'
  if (activeHoursPerDay === 0) return 'never'
  return activeHoursPerDay === null ? 'unknown' : formatHoursPerDay(activeHoursPerDay)
}

/** `292`, `292 and 1 unknown`, `unknown`. */
const totalWords = ({ cost: { expected, unknown } }: Spending): string => {
  if (unknown === 0) return formatCuHours(expected)
  return expected === null ? 'unknown' : `${formatCuHours(expected)} and ${unknown} unknown`
}

const amountWords = ({ money }: Spending): string =>
  money === undefined
    ? ''
    : money.expected === null
      ? 'unknown'
      : `${formatMoney(money.expected)} ${money.price.currency}`

/** `1,060 CU-hours a month, at most 1,460; 1 compute unknown`. */
export const spendingWords = ({ total: { cost } }: CostReport): string => {
  const { expected, high, unknown } = cost
  const bound =
    high === expected && unknown === 0 ? '' : high === null ? ', no known bound' : `, at most ${formatCuHours(high)}`
  if (expected === null) return `unknown${bound}${high === null ? '' : ' CU-hours a month'}`
  return `${formatCuHours(expected)} CU-hours a month${bound}${unknownWords(unknown)}`
}

const unknownWords = (count: number): string => (count === 0 ? '' : `; ${counted(count, 'compute')} unknown`)

/**
 * `235.32 USD a month, at 0.222 USD a CU-hour; 1 compute unknown`, or `undefined` if no price is set or the whole cost
 * is unknown.
 */
export const spendingMoney = ({ total }: CostReport): string | undefined =>
  total.money === undefined || total.money.expected === null
    ? undefined
    : `${amountWords(total)} a month, at ${formatPrice(total.money.price)}${unknownWords(total.cost.unknown)}`

/** `up to 2,920`. */
export const savingWords = ({ bound, saves }: Advice): string => `${bound} ${formatCuHours(saves)}`

/** `shop.yaml:12  scaleToZero: never → 5m`. */
export const editWords = ({ key, before, after, source, others }: Edit): string => {
  const change = before === null ? `add ${key}: ${after}` : `${key}: ${before} → ${after}`
  if (source === undefined) return `${change}  (no manifest declares it)`
  const shared = others === 0 ? '' : `  (also applies to ${counted(others, 'other compute')})`
  return `${place(source)}  ${change}${shared}`
}

/** The compute that an advice is about: `primary on staging`, or `primary on staging in shop` with several projects. */
export const adviceTitles = ({ computes, projects }: CostReport): ((advice: Advice) => string) => {
  const titles = new Map(computes.map(({ compute, title }) => [compute, title]))
  const names = new Map(projects.map(({ project, name }) => [project, name ?? project]))
  return ({ compute, branch, project }) =>
    `${titles.get(compute) ?? compute} on ${branch}${projects.length > 1 ? ` in ${names.get(project)}` : ''}`
}
