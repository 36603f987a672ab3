/** Shows the differences between manifests and live projects, grouped by which side changed. */
import { counted, listed, plainText, plainValue } from '../../base/index.ts'
import { type Difference, isDrift, MOVER_WORDS, MOVERS, type Plan } from '../../model/index.ts'
import { ageOf, capitalised } from '../words/counts.ts'
import { computeOnBranch, place, projectTitle } from '../words/names.ts'
import { type Paint, paintOf, type Style, wrapped } from './style.ts'

interface DriftContext {
  /** The git ref given with `--base`. */
  readonly ref: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The plan that contains these differences. */
  readonly plan: Pick<Plan, 'projects' | 'projectNames' | 'leftOut'>
}

export const terminalDrift = (raw: readonly Difference[], { ref, now, plan }: DriftContext, style: Style): string => {
  const differences = plainValue(raw)
  const paint = paintOf(style)
  const titleOf = projectTitle(plainValue(plan))
  const sections = MOVERS.flatMap((mover) => {
    const own = differences.filter((difference) => difference.mover === mover)
    if (own.length === 0) return []
    const title = paint.bold(`${capitalised(MOVER_WORDS[mover])}: ${counted(own.length, 'difference')}`)
    return [[title, ...own.map((one) => wrapped(lineOf(one, titleOf, now, paint), style, 2))].join('\n')]
  })
  const drifted = differences.filter(isDrift).length
  const { projects, leftOut = [] } = plan
  const total = counted(projects.length + leftOut.length, 'project')
  const since = `since ${plainText(ref)}${leftOut.length === 0 ? '' : ` in ${projects.length} of ${total}`}`
  const hint =
    differences.length === 0 ? '' : ' The manifests introduced the differences. To apply them, run `espalier apply`.'
  const drifting = [...new Set(differences.filter(isDrift).map(({ change }) => change.project))]
  const [only] = drifting.length === 1 ? drifting : []
  const isPart = drifting.length <= MOST_NAMED
  const restored = isPart ? drifting.map((project) => ` --project ${project}`).join('') : ''
  const introduced = differences.filter((one) => !isDrift(one) && (!isPart || drifting.includes(one.change.project)))
  const more = introduced.length === 0 ? '' : ', which also applies what the manifests introduced there'
  const next = [
    `To restore the declared values, run \`espalier apply${restored}\`${more}.`,
    ...acceptances(differences.filter(isDrift), only),
    'The API does not report who made a change.',
  ].join(' ')
  const verdict =
    drifted === 0
      ? wrapped(`No drift ${since}.${hint}`, style)
      : `Drift ${since}: ${counted(drifted, 'difference')}.\n${wrapped(next, style)}`
  return `${[...sections, verdict].join('\n\n')}\n`
}

/** An import keeps declared computes that are not live, so their entries have to be deleted by hand. */
const acceptances = (drift: readonly Difference[], project = 'ID'): readonly string[] => {
  const deleted = drift.filter(({ change }) => change.kind === 'create')
  const entries = [...new Set(deleted.flatMap(({ change: { source } }) => (source === undefined ? [] : place(source))))]
  return [
    ...(deleted.length === drift.length
      ? []
      : [`To accept the live ones, run \`espalier import --project ${project} --out FILE\`.`]),
    ...(entries.length === 0
      ? []
      : [
          `To accept that a compute was deleted, delete its entry at ${listed(entries, MOST_NAMED)}. If the entry is in a rule, add the branch to the rule's \`except\` instead.`,
        ]),
  ]
}

/** If more projects have drift, the suggested command applies all of them. */
const MOST_NAMED = 8

const lineOf = (difference: Difference, titleOf: (project: string) => string, now: number, paint: Paint): string => {
  const { change, attribute } = difference
  const { compute, source } = change
  const id = compute.id === undefined ? '' : ` (${compute.id})`
  const where = `${paint.bold(computeOnBranch(change, titleOf))}${paint.dim(id)}`
  const what =
    attribute === undefined
      ? kindWords(difference)
      : `${attribute.path}: live ${paint.yellow(attribute.beforeText ?? 'nothing')}, declared ${attribute.afterText}`
  return `${where}: ${what}${sinceWords(difference, now)}${source === undefined ? '' : paint.dim(`  ${place(source)}`)}`
}

const sinceWords = ({ change, lastOperation }: Difference, now: number): string => {
  if (lastOperation === undefined) return ''
  const { id, action, createdAt, computeId } = lastOperation
  const what = change.kind === 'create' ? `last operation of ${computeId}` : 'changed'
  return `; ${what} ${ageOf(createdAt, now)} ago by ${action} ${id}`
}

const PAST = { create: 'created', update: 'updated', move: 'moved', replace: 'replaced', delete: 'deleted' } as const

/** Describes what happened to the compute, or what the manifests declare for it. */
const kindWords = ({ change: { kind, from, branch }, mover, lastOperation }: Difference): string => {
  if (mover === 'manifest') return `to be ${PAST[kind]}`
  if (kind === 'create') return lastOperation === undefined ? 'not live: deleted, or never applied' : 'deleted'
  if (kind === 'delete') return 'created, but not declared'
  return kind === 'move' && from !== undefined
    ? `moved to ${from.name}, declared on ${branch.name}`
    : `to be ${PAST[kind]}`
}
