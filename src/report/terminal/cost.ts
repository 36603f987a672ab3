/** What `espalier cost` shows on a terminal: a table, followed by suggested savings. */
import { plainText } from '../../base/index.ts'
import type { CostReport } from '../../cost/index.ts'
import {
  adviceTitles,
  editWords,
  groupedSpendingRows,
  SPENDING_COLUMNS,
  type SpendingRow,
  savingWords,
  spendingMoney,
  spendingWords,
} from '../words/spending.ts'
import { paintOf, type Style, wrapped } from './style.ts'
import { type Column, tableOf } from './table.ts'

export const costTable = (report: CostReport, style: Style): string => {
  const paint = paintOf(style)
  const rows = groupedSpendingRows(report)
  const table = tableOf(COLUMNS, rows, style)
  const money = spendingMoney(report)
  const titleOf = adviceTitles(report)
  return [
    `${paint.bold('Cost')}  ${spendingWords(report)}`,
    ...(money === undefined ? [] : [`      ${money}`]),
    '',
    ...(rows.length === 0 ? ['No computes.'] : [table.head, ...rows.map(table.line)]),
    ...(report.advice.length === 0 ? [] : ['', paint.bold('Largest savings, in CU-hours a month')]),
    ...report.advice.flatMap((advice) => [
      wrapped(`${paint.green(savingWords(advice))}  ${plainText(titleOf(advice))}. ${advice.text}`, style, 2),
      wrapped(plainText(editWords(advice.edit)), style, 4),
    ]),
    '',
  ].join('\n')
}

const COLUMNS: readonly Column<SpendingRow>[] = [
  ...SPENDING_COLUMNS.map(({ title, key, type }) => ({
    title: title.toUpperCase(),
    text: (row: SpendingRow) => plainText(row[key] ?? ''),
    isNumber: type === 'number',
    ...(type === 'name' ? { narrowest: 12 } : {}),
  })),
  { title: 'COULD SAVE', text: ({ saving = '' }) => saving, color: (_, paint) => paint.green, isOptional: true },
]
