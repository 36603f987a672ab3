/** A plan for the reviewer of a pull request: what it does first, who caused it, and only then the details. */
import { type Change, isEmptyPlan } from '../../model/index.ts'
import { folded, literal } from '../markdown.ts'
import { counted, group } from '../style.ts'
import { computeTitle, impactWords, isDisruptive, isOfFleet, stepTitle } from '../words.ts'
import { changeTable, worstFirst, yamlDiff } from './changes.ts'
import { stepGraph } from './graph.ts'
import { COMMENT_LIMIT, fits, type Limit } from './limit.ts'
import { verdict } from './verdict.ts'
import type { PlanView } from './view.ts'

/** What is shown; what is dropped first, when not all fits, comes first. */
interface Detail {
  readonly graph: boolean
  readonly unmanaged: boolean
  readonly steps: boolean
  readonly driftRows: boolean
  readonly diff: boolean
  readonly quietRows: boolean
  /** Rows of changes that interrupt somebody. */
  readonly loudRows: number
}

const WHOLE: Detail = {
  graph: true,
  unmanaged: true,
  steps: true,
  driftRows: true,
  diff: true,
  quietRows: true,
  loudRows: Number.POSITIVE_INFINITY,
}
const DROPPED: readonly (keyof Detail)[] = ['graph', 'unmanaged', 'steps', 'driftRows', 'diff', 'quietRows']

/**
 * @param limit beyond it detail is dropped in order of importance, never by cutting a line. Deletes
 *   and restarts are counted whatever happens, and the most disruptive changes are listed.
 */
export const planComment = (view: PlanView, limit: Limit = COMMENT_LIMIT): string => {
  let detail = WHOLE
  for (const next of [undefined, ...DROPPED]) {
    if (next !== undefined) detail = { ...detail, [next]: false }
    const text = render(view, detail)
    if (fits(text, limit)) return text
  }
  let [low, high] = [0, view.plan.changes.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(render(view, { ...detail, loudRows: middle }), limit)) low = middle
    else high = middle - 1
  }
  return render(view, { ...detail, loudRows: low })
}

const render = (view: PlanView, detail: Detail): string => {
  const { plan, origin } = view
  const isShort = Object.entries(detail).some(([key, value]) => value !== WHOLE[key as keyof Detail])
  const parts = [
    view.marker,
    heading(view),
    ...view.notes.map((note) => `> ${note}`),
    ...introduced(origin.introduced, view, detail),
    ...drift(view, detail),
    ...(origin.settled.length === 0 ? [] : [`Settles the drift of ${counted(origin.settled.length, 'compute')}.`]),
    ...(detail.steps && plan.steps.length > 0 ? [order(view, detail)] : []),
    ...(detail.unmanaged && plan.unmanaged.length > 0 ? [unmanaged(view)] : []),
    ...plan.warnings.map(
      ({ code, message, hint }) => `- **${code}** ${literal(message)}${hint === undefined ? '' : ` ${literal(hint)}`}`,
    ),
    ...(isShort ? [`Shortened to fit. The whole plan is in ${view.whole}.`] : []),
    ...footer(view),
  ]
  return `${parts.join('\n\n')}\n`
}

const footer = ({ commit, takenAt, isPullRequest }: PlanView): readonly string[] => {
  const known = [
    ...(commit === undefined ? [] : [`commit ${literal(commit)}`]),
    ...(takenAt === undefined ? [] : [`live project seen at ${literal(takenAt)}`]),
  ].join(', ')
  const sentences = [
    ...(known === '' ? [] : [`${known.charAt(0).toUpperCase()}${known.slice(1)}.`]),
    ...(isPullRequest ? ['Nothing is changed before the merge.'] : []),
  ]
  return sentences.length === 0 ? [] : [`<sub>${sentences.join(' ')}</sub>`]
}

const heading = ({ plan, origin }: PlanView): string => {
  if (isEmptyPlan(plan)) return '### Espalier: no changes\n\nThe live project is as the manifests say.'
  if (origin.introduced.length === 0) return '### Espalier: this pull request changes no compute'
  return `### Espalier: ${verdict(origin.introduced)}`
}

const isLoud = (change: Change): boolean => isDisruptive(change.impact) || change.refused !== undefined

const introduced = (changes: readonly Change[], view: PlanView, detail: Detail): readonly string[] => {
  if (changes.length === 0) return []
  const loud = worstFirst(changes.filter(isLoud))
  const quiet = changes.filter((change) => !isLoud(change))
  const shown = loud.slice(0, detail.loudRows)
  const rest = loud.length - shown.length
  return [
    view.isPullRequest ? '**Introduced by this pull request**' : '**What differs from the manifests**',
    ...(loud.length > 0 ? [alarm(loud)] : []),
    ...(shown.length > 0 ? [changeTable(shown, view)] : []),
    ...(rest > 0 ? [`And ${group(rest)} more that interrupt somebody: ${verdict(loud.slice(shown.length))}`] : []),
    ...(quiet.length > 0 ? quietPart(quiet, view, detail) : []),
    ...(detail.diff ? [folded('Before and after, as in a manifest', yamlDiff(changes))] : []),
  ]
}

const quietPart = (quiet: readonly Change[], view: PlanView, detail: Detail): readonly string[] =>
  detail.quietRows
    ? ['Interrupts no one:', changeTable(quiet, view)]
    : [`${counted(quiet.length, 'more change')}: ${quiet.length === 1 ? 'it interrupts' : 'they interrupt'} no one.`]

/** The worst few by name, where the eye falls first. */
const alarm = (loud: readonly Change[]): string => {
  const deletes = loud.some(({ kind, impact }) => kind === 'delete' || impact === 'gone' || impact === 'new-host')
  const isFleet = isOfFleet(loud)
  const named = loud
    .slice(0, 5)
    .map(
      (change) =>
        `> - ${literal(computeTitle(change.compute))} on ${literal(change.branch.name)}${isFleet ? ` in ${literal(change.project)}` : ''}: ${impactWords(change)}`,
    )
  const more = loud.length > named.length ? [`> - and ${group(loud.length - named.length)} more`] : []
  return [`> [!${deletes ? 'CAUTION' : 'WARNING'}]`, ...named, ...more].join('\n')
}

const drift = (view: PlanView, detail: Detail): readonly string[] => {
  const changes = view.origin.drift
  if (changes.length === 0) return []
  const title = `Drift that was already there: ${counted(changes.length, 'compute')}`
  const what = `Not of this pull request: the live project differs from what the base's manifests ask for. The merge settles it too: ${verdict(changes)}`
  return detail.driftRows
    ? [folded(title, `${what}\n\n${changeTable(worstFirst(changes), view)}`)]
    : [`**${title}.** ${what}`]
}

const order = ({ plan }: PlanView, detail: Detail): string => {
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const isFleet = isOfFleet(plan.steps)
  const list = plan.steps
    .map(
      (step, index) =>
        `${index + 1}. ${literal(stepTitle(step, changes, isFleet))}${isDisruptive(step.impact) ? `: **${impactWords(step)}**` : ''}`,
    )
    .join('\n')
  const graph = detail.graph ? stepGraph(plan) : undefined
  return folded(`Order of ${counted(plan.steps.length, 'step')}`, graph === undefined ? list : `${graph}\n\n${list}`)
}

const unmanaged = ({ plan }: PlanView): string =>
  folded(
    `Not managed: ${group(plan.unmanaged.length)}`,
    plan.unmanaged
      .map(
        ({ branch, compute }) =>
          `- ${literal(computeTitle(compute))} on ${literal(branch.name)} ${literal(compute.id ?? '')}`,
      )
      .join('\n'),
  )
