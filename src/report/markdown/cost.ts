/** The Markdown that `espalier cost` prints: the total, suggested savings, and a collapsed table of computes. */
import type { CostReport } from '../../cost/index.ts'
import {
  adviceTitles,
  editWords,
  savingWords,
  spendingColumns,
  spendingMoney,
  spendingRows,
  spendingWords,
} from '../words/spending.ts'
import { folded, heading, literal, table } from './text.ts'

export const costMarkdown = (report: CostReport): string => {
  const money = spendingMoney(report)
  const titleOf = adviceTitles(report)
  const advice = report.advice.map(
    (one) => `- **${savingWords(one)}** ${literal(titleOf(one))}: ${one.text}<br>${literal(editWords(one.edit))}`,
  )
  const parts = [
    heading({}, spendingWords(report)),
    ...(money === undefined ? [] : [money]),
    ...(advice.length === 0 ? [] : ['**Largest savings, in CU-hours a month**', advice.join('\n')]),
    ...(report.projects.length > 1 ? [folded(`${report.projects.length} projects`, costTable(report, 'project'))] : []),
    folded('Every compute', costTable(report, 'compute')),
  ]
  return `${parts.join('\n\n')}\n`
}

const costTable = (report: CostReport, by: 'compute' | 'project'): string => {
  const rows = spendingRows(report, by)
  const columns = spendingColumns(rows)
  return table(
    columns.map(({ title }) => title),
    rows.map((row) => columns.map(({ key, type }) => (type === 'name' ? literal(row[key] ?? '') : (row[key] ?? '')))),
    columns.map(({ type }) => (type === 'name' ? '---' : '--:')),
  )
}
