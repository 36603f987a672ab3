/** Changes by project and branch, next to the computes that do not change. */
import { groupBy } from '../../base/index.ts'
import { type Change, computeTitle, formatSize, isIdle, type Observed, type Plan } from '../../model/index.ts'
import { counted } from '../words/counts.ts'
import { isDisruptive } from '../words/impacts.ts'
import { projectTitle } from '../words/names.ts'
import { type CardContext, changeCard } from './change-card.ts'
import { filters } from './filters.ts'
import { type Markup, markup, NOTHING, section, when } from './markup.ts'
import { stillItem } from './sections.ts'

/** With more changes, projects are folded. */
const MOST_OPEN = 60

interface ChangesOptions extends Omit<CardContext, 'numbers'> {
  /** Next to the title of a project. */
  facts?(changes: readonly Change[]): string
}

export const changesSection = (
  plan: Plan,
  observed: Observed | undefined,
  { facts = projectFacts, ...context }: ChangesOptions,
): Markup => {
  const { changes } = plan
  if (changes.length === 0) return NOTHING
  const numbered = plan.steps.map((step, index) => ({ number: index + 1, step }))
  const numbers = new Map(numbered.map(({ number, step }) => [step.id, number]))
  const steps = groupBy(numbered, ({ step }) => step.change)
  const indexes = new Map(changes.map((change, index) => [change, index + 1]))
  const unchanged = unchangedComputes(plan, observed)
  const titleOf = projectTitle(plan)
  const card = (change: Change): Markup =>
    changeCard(change, indexes.get(change) ?? 0, steps.get(change.id) ?? [], { ...context, numbers })
  const projects = [...groupBy(changes, ({ project }) => project)].map(([id, own]) => {
    const name = titleOf(id)
    const branches = [...groupBy(own, ({ branch }) => branch.id).values()]
    return markup`<details class="project" data-project="${id}"${when(changes.length <= MOST_OPEN, () => markup` open`)}><summary><h3>${name === id ? '' : markup`${name} `}<code>${id}</code></h3><span class="counts">${facts(own)}</span></summary>
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

/** By project and branch: an item for each compute that the plan does not change. */
const unchangedComputes = (plan: Plan, observed: Observed | undefined): UnchangedComputes => {
  const touched = new Set(plan.changes.flatMap(({ compute }) => compute.id ?? []))
  const unmanaged = new Set(plan.unmanaged.flatMap(({ compute }) => compute.id ?? []))
  const items = (observed?.projects ?? []).flatMap((project) =>
    project.computes
      .filter(({ id }) => !touched.has(id))
      .map((compute) => {
        const { name, size } = compute.attributes
        const title = computeTitle({ type: compute.type, ...(name === undefined ? {} : { name }) })
        const state = `${size === undefined ? '' : `${formatSize(size)}, `}${isIdle(compute) ? 'idle' : compute.state}`
        const note = unmanaged.has(compute.id) ? 'unmanaged' : 'unchanged'
        return { key: `${project.id}/${compute.branchId}`, item: stillItem(title, compute.id, state, note) }
      }),
  )
  return groupBy(items, ({ key }) => key)
}
