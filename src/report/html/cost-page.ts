/** The HTML page that `espalier cost` writes. */
import { counted } from '../../base/index.ts'
import type { CostReport } from '../../cost/index.ts'
import {
  adviceTitles,
  editWords,
  type SpendingBy,
  savingWords,
  spendingColumns,
  spendingMoney,
  spendingRows,
  spendingWords,
} from '../words/spending.ts'
import { type Markup, markup, section, timestamp, when } from './markup.ts'
import { type PageFrame, page } from './page.ts'

export const costPage = (report: CostReport, frame: PageFrame): string => {
  const { takenAt, projects, branches, computes } = report
  const money = spendingMoney(report)
  return page(frame, {
    title: `Cost: ${spendingWords(report)}`,
    command: 'cost',
    seen: markup`Snapshot of ${timestamp(takenAt)}`,
    head: markup`<h1>${spendingWords(report)}</h1>
<p class="facts">${money === undefined ? '' : `${money}. `}${counted(computes.length, 'compute')} in ${counted(projects.length, 'project')}.</p>`,
    body: [
      when(report.advice.length > 0, () => adviceSection(report)),
      when(projects.length > 1, () => costTable('projects', 'Projects', report, 'project')),
      when(branches.length > 1, () => costTable('cost-branches', 'Branches', report, 'branch')),
      costTable('computes', 'Computes', report, 'compute'),
    ],
  })
}

const adviceSection = (report: CostReport): Markup => {
  const titleOf = adviceTitles(report)
  const items = report.advice.map(
    (
      one,
    ) => markup`<li><p><b>${savingWords(one)}</b> ${titleOf(one)}. ${one.text}</p><p><code>${editWords(one.edit)}</code></p></li>
`,
  )
  const body = markup`<p class="lead">Amounts are in CU-hours a month. Several savings for the same compute cannot be added up.</p>
<ul class="advice">${items}</ul>`
  return section('advice', 'Largest savings', body)
}

const costTable = (id: string, title: string, report: CostReport, by: SpendingBy): Markup => {
  const rows = spendingRows(report, by)
  const columns = spendingColumns(rows)
  const table = markup`<div class="scroll"><table class="numbers"><thead><tr>${columns.map((one) => markup`<th scope="col">${one.title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => markup`<tr>${columns.map(({ key }) => markup`<td>${row[key]}</td>`)}</tr>
`,
  )}</tbody></table></div>`
  return section(id, title, table)
}
