/** Changes by project and branch, next to the computes that do not change. */
import { type Change, formatSize, isIdle, type Observed, type Plan } from '../../model/index.ts'
import { computeTitle, counted, isDisruptive, projectTitle } from '../words/index.ts'
import { type CardContext, changeCard, type NumberedStep } from './change-card.ts'
import { icon } from './looks.ts'
import { type Markup, markup, NOTHING, when } from './markup.ts'

/** With more changes, projects are folded. */
const MOST_OPEN = 60

export const changesSection = (
  plan: Plan,
  observed: Observed | undefined,
  context: Omit<CardContext, 'numbers'> & { readonly facts?: (changes: readonly Change[]) => string },
): Markup => {
  if (plan.changes.length === 0) return NOTHING
  const numbers = new Map(plan.steps.map((step, index) => [step.id, index + 1]))
  const steps = new Map<string, NumberedStep[]>()
  for (const [index, step] of plan.steps.entries()) {
    const list = steps.get(step.change) ?? []
    steps.set(step.change, list)
    list.push({ number: index + 1, step })
  }
  const indexes = new Map(plan.changes.map((change, index) => [change, index + 1]))
  const unchanged = unchangedComputes(plan, observed)
  const titleOf = projectTitle(plan)
  const card = (change: Change): Markup =>
    changeCard(change, indexes.get(change) ?? 0, steps.get(change.id) ?? [], { ...context, numbers })
  return markup`<section aria-labelledby="changes"${when(plan.changes.length > MOST_OPEN, () => markup` class="many"`)}><h2 id="changes">Branches and their computes</h2>
${grouped(plan.changes, ({ project }) => project).map((changes) => {
  const id = changes[0]?.project ?? ''
  const name = titleOf(id)
  return markup`<details class="project" data-project="${id}"${when(plan.changes.length <= MOST_OPEN, () => markup` open`)}><summary><h3>${name === id ? '' : markup`${name} `}<code>${id}</code></h3><span class="counts">${(context.facts ?? projectFacts)(changes)}</span></summary>
${grouped(changes, ({ branch }) => branch.id).map((own) => branchBlock(own, unchanged, card))}</details>
`
})}</section>`
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
<ol>${changes.map(card)}</ol>${when(rest.length > 0, () => markup`<ul class="still">${rest}</ul>`)}</div>
`
}

const projectFacts = (changes: readonly Change[]): string => {
  const loud = changes.filter(({ impact }) => isDisruptive(impact)).length
  return `${counted(changes.length, 'change')}, ${loud === 0 ? 'no one is interrupted' : `${loud} of them interrupt${loud === 1 ? 's' : ''}`}`
}

/** Groups consecutive changes; the plan is sorted. */
const grouped = (changes: readonly Change[], keyOf: (change: Change) => string): readonly (readonly Change[])[] => {
  const groups: Change[][] = []
  let key: string | undefined
  for (const change of changes) {
    if (keyOf(change) !== key) groups.push([])
    key = keyOf(change)
    groups.at(-1)?.push(change)
  }
  return groups
}

type UnchangedComputes = ReadonlyMap<string, readonly Markup[]>

/** By project and branch: a line for each compute that the plan does not change. */
const unchangedComputes = (plan: Plan, observed: Observed | undefined): UnchangedComputes => {
  const touched = new Set(plan.changes.flatMap(({ compute }) => compute.id ?? []))
  const unmanaged = new Set(plan.unmanaged.flatMap(({ compute }) => compute.id ?? []))
  const found = new Map<string, Markup[]>()
  for (const project of observed?.projects ?? []) {
    for (const compute of project.computes) {
      if (touched.has(compute.id)) continue
      const { name, size } = compute.attributes
      const title = computeTitle({ type: compute.type, ...(name === undefined ? {} : { name }) })
      const state = isIdle(compute) ? 'idle' : compute.state
      const line = markup`<li>${icon('ring')}<span>${title}</span> <code>${compute.id}</code> <span>${size === undefined ? '' : `${formatSize(size)}, `}${state}</span> <em>${unmanaged.has(compute.id) ? 'unmanaged' : 'unchanged'}</em></li>`
      const key = `${project.id}/${compute.branchId}`
      const list = found.get(key) ?? []
      found.set(key, list)
      list.push(line)
    }
  }
  return found
}
