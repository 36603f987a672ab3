/** Shows changes as a table, and as a YAML diff. */
import { diffLines } from 'diff'
import { stringify } from 'yaml'
import { type Change, keysOfPath, type Plan } from '../../model/index.ts'
import { isDisruptive, KIND_MARKS, windowWords } from '../words/impacts.ts'
import { hasSeveralProjects, place, projectTitle } from '../words/names.ts'
import { areExplained, rowChanges, rowEffects, rowImpact, rowTitle } from '../words/rows.ts'
import { fenced, linked, literal, type PlanView, table } from './text.ts'

/** A table with one row for each change. If the plan has few changes, all attributes and effects are shown. */
export const changeTable = (changes: readonly Change[], view: Pick<PlanView, 'plan' | 'linkTo'>): string => {
  const titleOf = hasSeveralProjects(view.plan) ? projectTitle(view.plan) : undefined
  const isExplained = areExplained(view.plan)
  const rows = changes.map((change) => [
    `\`${KIND_MARKS[change.kind].symbol}\``,
    computeCell(change, view, titleOf, isExplained),
    changeCell(rowChanges(change), isExplained),
    impactCell(change, isExplained),
  ])
  return table(['', 'compute', 'change', 'impact'], rows)
}

const computeCell = (
  { compute, branch, project, source }: Change,
  { linkTo }: Pick<PlanView, 'linkTo'>,
  titleOf: ((project: string) => string) | undefined,
  isExplained: boolean,
): string => {
  const title = literal(rowTitle({ compute, branch }))
  const url = source && linkTo?.(source.file, source.line)
  return [
    linked(title, url),
    ...(titleOf === undefined ? [] : [literal(titleOf(project))]),
    ...(source === undefined || url !== undefined || !isExplained ? [] : [literal(place(source))]),
  ].join('<br>')
}

const changeCell = (changes: readonly string[], isExplained: boolean): string =>
  changes.map(literal).join(isExplained ? '<br>' : ', ')

const impactCell = (change: Change, isExplained: boolean): string => {
  const words = rowImpact(change)
  // What is refused has no effects. What a policy denies is a decision.
  if (change.refused !== undefined)
    return [`**${words}**`, ...(change.isDenied ? [] : [literal(change.refused)])].join('<br>')
  return [
    isDisruptive(change.impact) ? `**${words}**` : words,
    ...rowEffects(change, isExplained).map(({ text, warns }) => `${warns ? '⚠️ ' : ''}${literal(text)}`),
    ...(change.windows === undefined ? [] : [literal(windowWords(change))]),
  ].join('<br>')
}

/** A diff of the computes before and after, as YAML. Each branch is diffed separately to keep the time linear. */
export const yamlDiff = (changes: readonly Change[], plan: Plan): string => {
  const isFleet = hasSeveralProjects(plan)
  const [before, after] = [treeOf(changes, 'before', isFleet), treeOf(changes, 'after', isFleet)]
  const branches = [...new Set([...before.keys(), ...after.keys()])]
  return fenced(
    'diff',
    branches.flatMap((branch) => diffOf(yamlOf(branch, before), yamlOf(branch, after))),
  )
}

type Tree = Record<string, unknown>

const diffOf = (before: string, after: string): readonly string[] =>
  diffLines(before, after).flatMap(({ added, removed, value }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `${added === true ? '+' : removed === true ? '-' : ' '} ${line}`),
  )

const yamlOf = (branch: string, trees: ReadonlyMap<string, Tree>): string => {
  const tree = trees.get(branch)
  return tree === undefined ? '' : stringify(new Map([[branch, tree]]), { lineWidth: 0 })
}

/** Returns a tree of YAML values for each branch. */
const treeOf = (changes: readonly Change[], side: 'before' | 'after', isFleet: boolean): ReadonlyMap<string, Tree> => {
  const trees = new Map<string, Tree>()
  for (const change of changes) {
    const { kind, compute, project } = change
    const isThere = side === 'before' ? kind !== 'create' : kind !== 'delete'
    if (!isThere) continue
    const name = side === 'before' && change.from !== undefined ? change.from.name : change.branch.name
    const branch = isFleet ? `${name} in ${project}` : name
    const tree = trees.get(branch) ?? emptyTree()
    trees.set(branch, tree)
    const slot = compute.type === 'read_write' ? ['primary'] : ['replicas', compute.name ?? compute.id ?? 'new']
    // The replacement will be a new compute, whose id is not known yet.
    put(tree, [...slot, 'id'], side === 'after' && kind === 'replace' ? 'a new one' : (compute.id ?? 'a new one'))
    for (const attribute of change.attributes) {
      const value = side === 'before' ? attribute.beforeText : attribute.afterText
      if (value !== undefined) put(tree, [...slot, ...keysOfPath(attribute.path)], value)
    }
  }
  return trees
}

/** An object without a prototype, because keys are untrusted and could be `__proto__`. */
const emptyTree = (): Tree => Object.create(null)

const put = (root: Tree, path: readonly string[], value: string): void => {
  let at = root
  for (const key of path.slice(0, -1)) {
    const next = at[key]
    const made = typeof next === 'object' && next !== null ? (next as Tree) : emptyTree()
    at[key] = made
    at = made
  }
  at[path.at(-1) ?? ''] = value
}
