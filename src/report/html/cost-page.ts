/** `espalier cost` as a page. */
import type { CostReport } from '../../cost/index.ts'
import {
  adviceTitles,
  counted,
  editWords,
  type SpendingRow,
  savingWords,
  spendingMoney,
  spendingRows,
  spendingWords,
} from '../words/index.ts'
import { type Markup, markup, when } from './markup.ts'
import { type PageFrame, page } from './page.ts'

export const costPage = (report: CostReport, frame: PageFrame): string => {
  const { takenAt, projects, computes } = report
  const money = spendingMoney(report)
  return page(frame, {
    title: `Cost: ${spendingWords(report)}`,
    command: 'cost',
    seen: markup`Snapshot of <time datetime="${takenAt}">${takenAt.replace('T', ' ').replace(/\.\d+/, '')}</time>`,
    head: markup`<h1>${spendingWords(report)}</h1>
<p class="facts">${money === undefined ? '' : `${money}. `}${counted(computes.length, 'compute')} in ${counted(projects.length, 'project')}.</p>`,
    body: [
      adviceSection(report),
      when(projects.length > 1, () => costTable('projects', 'Projects', spendingRows(report, 'project'))),
      when(report.branches.length > 1, () => costTable('cost-branches', 'Branches', spendingRows(report, 'branch'))),
      costTable('computes', 'Computes', spendingRows(report, 'compute')),
    ],
  })
}

const adviceSection = (report: CostReport): Markup => {
  const titleOf = adviceTitles(report)
  return when(
    report.advice.length > 0,
    () => markup`<section aria-labelledby="advice"><h2 id="advice">What would save the most</h2>
<p class="lead">CU-hours a month. Savings of one compute do not add up.</p>
<ul class="advice">${report.advice.map(
      (
        advice,
      ) => markup`<li><p><b>${savingWords(advice)}</b> ${titleOf(advice)}. ${advice.text}</p><p><code>${editWords(advice.edit)}</code></p></li>
`,
    )}</ul></section>`,
  )
}

const COLUMNS: readonly (readonly [string, keyof SpendingRow])[] = [
  ['CU-hours a month', 'expected'],
  ['At most', 'most'],
  ['Amount', 'amount'],
  ['Active', 'active'],
  ['Size', 'size'],
  ['Project', 'project'],
  ['Branch', 'branch'],
  ['Compute', 'compute'],
]

const costTable = (id: string, title: string, rows: readonly SpendingRow[]): Markup => {
  const shown = COLUMNS.filter(([, key]) => rows.some((row) => row[key] !== ''))
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<div class="scroll"><table class="numbers"><thead><tr>${shown.map(([name]) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => markup`<tr>${shown.map(([, key]) => markup`<td>${row[key]}</td>`)}</tr>
`,
  )}</tbody></table></div></section>`
}
