/** Lists changes by project and branch, together with the computes that do not change. */
import { counted, groupBy } from '../../base/index.ts'
import { type Change, computeTitle, formatSize, IMPACTS, isIdle, type Observed, type Plan } from '../../model/index.ts'
import { isDisruptive } from '../words/impacts.ts'
import { numberedSteps, projectTitle } from '../words/names.ts'
import { type CardContext, changeCard } from './change-card.ts'
import { type Markup, markup, NOTHING, section, when } from './markup.ts'
import { stillItem } from './sections.ts'

/** With more changes than this, projects are collapsed. */
const MOST_OPEN = 60

export const changesSection = (plan: Plan, observed: Observed | undefined, context: CardContext): Markup => {
  const { changes } = plan
  if (changes.length === 0) return NOTHING
  const steps = groupBy(numberedSteps(plan), ({ change }) => change)
  const numbers = new Map(changes.map((change, index) => [change, index + 1]))
  const unchanged = unchangedComputes(plan, observed)
  const titleOf = projectTitle(plan)
  const card = (change: Change): Markup => {
    const number = numbers.get(change) ?? 0
    return changeCard(change, number, steps.get(number) ?? [], context)
  }
  const projects = [...groupBy(changes, ({ project }) => project)].map(([id, own]) => {
    const name = titleOf(id)
    const branches = [...groupBy(own, ({ branch }) => branch.id).values()]
    return markup`<details class="project" data-project="${id}"${when(changes.length <= MOST_OPEN, () => markup` open`)}><summary><h3>${name === id ? '' : markup`${name} `}<code>${id}</code></h3><span class="counts">${projectFacts(own)}</span></summary>
${branches.map((ofBranch) => branchBlock(ofBranch, unchanged, card))}</details>
`
  })
  const className = changes.length > MOST_OPEN ? 'many' : undefined
  return markup`${filters(changes)}${section('changes', 'Branches and their computes', projects, className)}`
}

const branchBlock = (
  changes: readonly Change[],
  unchanged: UnchangedComputes,
  card: (change: Change) => Markup,
): Markup => {
  const [first] = changes
  if (first === undefined) return NOTHING
  const { branch, project } = first
  const rest = unchanged.get(`${project}/${branch.id}`) ?? []
  return markup`<div class="branch" data-branch="${branch.name}"><h4>${branch.name} <code>${branch.id}</code></h4>
<ol>${changes.map(card)}</ol>${when(rest.length > 0, () => markup`<ul class="still">${rest.map(({ item }) => item)}</ul>`)}</div>
`
}

const projectFacts = (changes: readonly Change[]): string => {
  const loud = changes.filter(({ impact }) => isDisruptive(impact)).length
  return `${counted(changes.length, 'change')}, ${loud === 0 ? 'no one is interrupted' : `${loud} of them interrupt${loud === 1 ? 's' : ''}`}`
}

type UnchangedComputes = ReadonlyMap<string, readonly { readonly item: Markup }[]>

/** A list item for each compute that the plan does not change, by project and branch. */
const unchangedComputes = (plan: Plan, observed: Observed | undefined): UnchangedComputes => {
  const touched = new Set(plan.changes.flatMap(({ compute }) => compute.id ?? []))
  const unmanaged = new Set(plan.unmanaged.flatMap(({ compute }) => compute.id ?? []))
  const items = (observed?.projects ?? []).flatMap((project) =>
    project.computes
      .filter(({ id }) => !touched.has(id))
      .map((compute) => {
        const { name, size } = compute.attributes
        const title = computeTitle({ type: compute.type, name })
        const state = `${size === undefined ? '' : `${formatSize(size)}, `}${isIdle(compute) ? 'idle' : compute.state}`
        const note = unmanaged.has(compute.id) ? 'unmanaged' : 'unchanged'
        return { key: `${project.id}/${compute.branchId}`, item: stillItem(title, compute.id, state, note) }
      }),
  )
  return groupBy(items, ({ key }) => key)
}

/** The form that filters changes. It is hidden until its script runs. */
const filters = (changes: readonly Change[]): Markup => {
  if (changes.length < 2) return NOTHING
  const projects = [...new Set(changes.map(({ project }) => project))]
  const impacts = IMPACTS.filter((one) => changes.some(({ impact }) => impact === one))
  const kinds = [...new Set(changes.map(({ kind }) => kind))]
  return markup`<search><form id="filters" hidden aria-label="Filter the changes">
${when(projects.length > 1, () => select('project', projects))}<p><label for="f-branch">branch</label><input id="f-branch" name="branch" type="search" autocomplete="off" spellcheck="false" placeholder="any"></p>
${select('impact', impacts)}${select('kind', kinds)}<p class="buttons"><button type="reset">Clear</button><button type="button" id="unfold">Open all</button></p>
<p role="status" aria-live="polite" id="shown"></p></form></search>`
}

const select = (name: string, values: readonly string[]): Markup =>
  markup`<p><label for="f-${name}">${name}</label><select id="f-${name}" name="${name}"><option value="">any</option>${values.map(
    (value) => markup`<option>${value}</option>`,
  )}</select></p>
`
