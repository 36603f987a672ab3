/** `espalier cost` as Markdown: the total, what would save the most, and a folded table of computes. */
import type { CostReport } from '../../cost/index.ts'
import { adviceTitles, editWords, savingWords, spendingMoney, spendingRows, spendingWords } from '../words/index.ts'
import { folded, heading, literal } from './text.ts'

export const costMarkdown = (report: CostReport): string => {
  const money = spendingMoney(report)
  const titleOf = adviceTitles(report)
  const parts = [
    heading({}, spendingWords(report)),
    ...(money === undefined ? [] : [money]),
    ...(report.advice.length === 0
      ? []
      : [
          '**What would save the most, in CU-hours a month**',
          report.advice
            .map(
              (advice) =>
                `- **${savingWords(advice)}** ${literal(titleOf(advice))}: ${advice.text}<br>${literal(editWords(advice.edit))}`,
            )
            .join('\n'),
        ]),
    ...(report.projects.length > 1 ? [folded(`${report.projects.length} projects`, table(report, 'project'))] : []),
    folded('Every compute', table(report, 'compute')),
  ]
  return `${parts.join('\n\n')}\n`
}

const table = (report: CostReport, by: 'compute' | 'project'): string => {
  const rows = spendingRows(report, by)
  const columns = (
    [
      ['CU-hours a month', 'expected'],
      ['at most', 'most'],
      ['amount', 'amount'],
      ['active', 'active'],
      ['size', 'size'],
      ['project', 'project'],
      ['branch', 'branch'],
      ['compute', 'compute'],
    ] as const
  ).filter(([, key]) => rows.some((row) => row[key] !== ''))
  const named = new Set<string>(['project', 'branch', 'compute'])
  return [
    columns.map(([title]) => title),
    columns.map(([, key]) => (named.has(key) ? '---' : '--:')),
    ...rows.map((row) => columns.map(([, key]) => (named.has(key) ? literal(row[key]) : row[key]))),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
