/** Shows changes as a table, and as a YAML diff. */
import { diffLines } from 'diff'
import { stringify } from 'yaml'
import { type Change, computeTitle, type Plan } from '../../model/index.ts'
import { impactWords, isDisruptive, KIND_MARKS, windowWords } from '../words/impacts.ts'
import { hasSeveralProjects, place } from '../words/names.ts'
import { fenced, linked, literal, type PlanView, table } from './text.ts'

/** A table with one row for each change, in the order of the plan. */
export const changeTable = (changes: readonly Change[], view: Pick<PlanView, 'plan' | 'linkTo'>): string => {
  const isFleet = hasSeveralProjects(view.plan)
  const rows = changes.map((change) => [
    `\`${KIND_MARKS[change.kind].symbol}\``,
    [change.branch.name, ...(isFleet ? [change.project] : [])].map(literal).join('<br>'),
    [
      literal(computeTitle(change.compute)),
      ...(change.compute.id === undefined ? [] : [literal(change.compute.id)]),
      ...placeOf(change, view),
    ].join('<br>'),
    whatChanges(change),
    impactCell(change),
  ])
  // There are at most five columns, because GitHub cuts off wider tables.
  return table(['', 'branch', 'compute', 'change', 'impact'], rows)
}

const whatChanges = (change: Change): string => {
  const moved = change.from === undefined ? [] : [`from ${literal(change.from.name)}`]
  const attributes = change.attributes.map(({ path, beforeText: before, afterText: after }) =>
    before === undefined
      ? `${literal(path)} ${literal(after)}`
      : `${literal(path)} ${literal(before)} → ${literal(after)}`,
  )
  const words = [...moved, ...attributes]
  return words.length > 0 ? words.join('<br>') : `${change.kind}d`
}

const impactCell = (change: Change): string => {
  const words = impactWords(change)
  const shown = isDisruptive(change.impact) ? `**${words}**` : words
  return [
    shown,
    ...(change.windows === undefined ? [] : [literal(windowWords(change))]),
    ...(change.refused === undefined ? [] : [`refused: ${literal(change.refused)}`]),
  ].join('<br>')
}

/** The place where the compute is declared. */
const placeOf = ({ source }: Change, { linkTo }: Pick<PlanView, 'linkTo'>): readonly string[] => {
  if (source === undefined) return ['not declared']
  const shown = literal(place(source))
  const link = linkTo?.(source.file, source.line)
  return [linked(shown, link)]
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

type Side = 'before' | 'after'
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
const treeOf = (changes: readonly Change[], side: Side, isFleet: boolean): ReadonlyMap<string, Tree> => {
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
      if (value !== undefined) put(tree, [...slot, ...keysOf(attribute.path)], value)
    }
  }
  return trees
}

/** Splits a path into keys. The name of a setting is one key, even if it contains dots, as `app.jwt_secret` does. */
const keysOf = (path: string): readonly string[] =>
  path.startsWith(SETTINGS) ? [...SETTINGS.split('.').slice(0, -1), path.slice(SETTINGS.length)] : path.split('.')

const SETTINGS = 'postgres.settings.'

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
