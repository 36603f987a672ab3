/** The plan as a pull request comment. Its effect comes first, then introduced changes and drift, then details. */
import { counted } from '../../base/index.ts'
import { type Change, isEmptyPlan, type Plan } from '../../model/index.ts'
import { warningsBeside } from '../words/alike.ts'
import { capitalised } from '../words/counts.ts'
import { worstFirst } from '../words/impacts.ts'
import { planNames, type Since, withNamesOf } from '../words/names.ts'
import {
  emptyVerdict,
  isUnchanged,
  planVerdict,
  projectsLeftOut,
  skippedLines,
  verdict,
  waveLines,
} from '../words/plan-lines.ts'
import { releasedCounts } from '../words/released.ts'
import { quietWords, splitRows } from '../words/rows.ts'
import { changeTable, yamlDiff } from './changes.ts'
import {
  decisionsPart,
  leftOutPart,
  releasedPart,
  reviewDetails,
  reviewPart,
  stepsPart,
  weakenedSafeguards,
} from './plan-parts.ts'
import {
  COMMENT_LIMIT,
  diagnosticText,
  fitTo,
  folded,
  heading,
  type Introducer,
  type Limit,
  literal,
  NO_LIMIT,
  type PlanView,
} from './text.ts'

/** The parts that are left out if the comment is too long, in this order. Then rows are, one by one. */
const PARTS = ['graph', 'unmanaged', 'steps', 'diff', 'problems', 'released', 'warnings'] as const

/** These parts are left out only if the comment is too long even without rows. */
const BEFORE_ROWS = PARTS.indexOf('released')

interface Detail {
  readonly isShort: boolean
  shows(part: (typeof PARTS)[number]): boolean
  /** The changes that have a row. */
  readonly rows: ReadonlySet<Change>
  /** Returns the introduced changes as a YAML diff. */
  diff(): string
}

/**
 * @param limit if the comment would exceed it, less important parts are left out, and then the rows of the least
 *   disruptive changes. No line is cut, and nothing is left out of the counts.
 */
export const planComment = (view: PlanView, limit: Limit = COMMENT_LIMIT): string => {
  // The diff is computed only once, because this is slow and several forms contain it.
  let known: string | undefined
  const diff = (): string => {
    known ??= yamlDiff(view.origin.introduced, view.plan)
    return known
  }
  const all = worstFirst([...view.origin.introduced, ...view.origin.drift])
  const form = (dropped: number, rows: number): string => {
    const shown = all.slice(0, rows)
    const detail = { isShort: dropped > 0, shows: isShown(dropped), rows: new Set(shown), diff }
    return `${render(view, detail)}${view.recordOf?.(shown) ?? ''}`
  }
  const fits = (text: string): boolean => limit.measure(text) <= limit.most
  // For thousands of changes, the longer forms take seconds to render, and none can fit if the shortest does not.
  const canFit = limit.most === Number.POSITIVE_INFINITY || fits(form(BEFORE_ROWS, all.length))
  const forms = canFit ? Array.from({ length: BEFORE_ROWS + 1 }, (_, dropped) => () => form(dropped, all.length)) : []
  const text = fitTo(limit, forms, all.length, (rows) => form(BEFORE_ROWS, rows))
  return fits(text) ? text : fitTo(limit, [], all.length, (rows) => form(PARTS.length, rows))
}

const isShown =
  (dropped: number): Detail['shows'] =>
  (part) =>
    PARTS.indexOf(part) >= dropped

interface MarkdownOptions extends Pick<PlanView, 'takenAt'> {
  readonly since?: Since
}

/** The plan as Markdown for the command line. Its length is not limited. */
export const markdownPlan = (plan: Plan, { since, ...options }: MarkdownOptions = {}): string => {
  const origin = since?.origin ?? { introduced: plan.changes, drift: [], settled: [], released: [] }
  const introducedBy = since === undefined ? {} : { introducedBy: { since: since.ref } }
  return planComment({ ...options, plan, origin, ...introducedBy, notes: [] }, NO_LIMIT)
}

const render = (view: PlanView, detail: Detail): string => {
  const { plan, origin } = view
  const waves = waveLines(plan)
  const skipped = skippedLines(plan).map(literal)
  const names = planNames(plan)
  const unmanaged = plan.unmanaged.map((one) => `${literal(names.compute(one))} ${literal(one.compute.id ?? '')}`)
  const parts = [
    ...(view.marker === undefined ? [] : [view.marker]),
    headline(view),
    ...decisionsPart(view, unfit(view, detail)),
    ...view.notes.map((note) => `> ${note}`),
    ...(origin.gaps ?? []).map((gap) => `> ${literal(gap)}`),
    ...leftOutPart(view, detail.shows('problems')),
    ...(typeof view.introducedBy === 'object' && isUnchanged(plan, origin)
      ? [`The manifests introduce no changes since ${literal(view.introducedBy.since)}.`]
      : []),
    ...(waves.length === 0 ? [] : [`Waves: ${waves.map(literal).join(' → ')}`]),
    ...(origin.introduced.length === 0 ? reviewPart(view) : introduced(origin.introduced, view, detail)),
    ...(detail.shows('released') ? releasedPart(view) : []),
    ...drift(view, detail),
    ...(origin.settled.length === 0
      ? []
      : [`The manifests now accept the drift of ${counted(origin.settled.length, 'compute')}.`]),
    ...(detail.shows('steps') ? [...stepsPart(plan, detail.shows('graph')), ...reviewDetails(plan)] : []),
    ...(detail.shows('unmanaged')
      ? [...foldedList('Skipped', 'change', skipped), ...foldedList('Unmanaged', 'compute', unmanaged)]
      : []),
    ...(detail.shows('warnings') ? warningsBeside(plan) : [])
      .map(withNamesOf(plan))
      .map((warning) => `- ${diagnosticText(warning)}`),
    ...(detail.isShort ? [`Shortened to fit. The whole plan is in ${view.whole ?? 'its JSON'}.`] : []),
    ...footer(view),
  ]
  return `${parts.join('\n\n')}\n`
}

const footer = ({ commit, takenAt }: PlanView): readonly string[] => {
  const parts = [
    ...(commit ? [`commit ${literal(commit)}`] : []),
    ...(takenAt === undefined ? [] : [`snapshot of ${literal(takenAt)}`]),
  ]
  return parts.length === 0 ? [] : [`<sub>${capitalised(parts.join(', '))}.</sub>`]
}

/** Counts all changes that the merge would apply, including corrections of existing drift. */
const headline = (view: PlanView): string => {
  const { plan, origin } = view
  const leftOut = projectsLeftOut(plan)
  const released = releasedCounts(origin.released.filter(({ kind }) => kind !== 'safeguard'))
  const weakened = weakenedSafeguards(view).length
  const policies = plan.policies?.changes?.length ?? 0
  const others = [
    ...(weakened === 0 ? [] : [`${counted(weakened, 'safeguard')} ${weakened === 1 ? 'is' : 'are'} weakened.`]),
    ...(policies === 0 || !isEmptyPlan(plan)
      ? []
      : [`${counted(policies, 'policy', 'policies')} ${policies === 1 ? 'changes' : 'change'}.`]),
    ...(released === '' ? [] : [`No longer managed, and left as it is: ${released}.`]),
    ...(leftOut === undefined ? [] : [`${leftOut} could not be planned.`]),
  ]
  if (!isEmptyPlan(plan)) {
    const source =
      origin.introduced.length === 0 && view.introducedBy !== undefined ? ['All of this is existing drift.'] : []
    return heading(view, [planVerdict(plan, literal).replace(/^N/, 'n'), ...source, ...others].join(' '))
  }
  if (others.length > 0) {
    return heading(view, [...(leftOut === undefined ? ['nothing is interrupted.'] : []), ...others].join(' '))
  }
  return heading(view, `no${emptyVerdict(plan).slice('No'.length).replace('. ', '\n\n')}`)
}

const titleOf = (introducer: Introducer | undefined): string => {
  if (introducer === undefined) return '**Differences from the manifests**'
  return `**Introduced ${typeof introducer === 'object' ? `since ${literal(introducer.since)}` : `by ${introducer}`}**`
}

/** The changes that have no row, because the comment would be too long. */
const unfit = ({ plan, origin: { introduced, drift }, recordOf }: PlanView, { rows }: Detail): readonly string[] => {
  const others = new Set([...introduced, ...drift].filter((change) => !rows.has(change)).map(({ id }) => id))
  if (others.size === 0) return []
  const verb = others.size === 1 ? 'does' : 'do'
  const advice =
    recordOf === undefined ? '' : ' With `require-approval`, this cannot be applied: split the pull request.'
  const left = plan.changes.filter(({ id }) => others.has(id))
  return [`**${counted(others.size, 'change')} ${verb} not fit here.**${advice} Of these: ${verdict(left)}`]
}

/** The rows of changes. If there are many, those that interrupt no one are folded. */
const rowsPart = (changes: readonly Change[], view: PlanView, { rows }: Detail): readonly string[] => {
  const shown = worstFirst(changes).filter((change) => rows.has(change))
  const { loud, quiet } = splitRows(shown, changes.length)
  return [
    ...(loud.length > 0 ? [changeTable(loud, view)] : []),
    ...(quiet.length > 0 ? [folded(quietWords(quiet, loud.length > 0), changeTable(quiet, view))] : []),
  ]
}

const introduced = (changes: readonly Change[], view: PlanView, detail: Detail): readonly string[] => [
  titleOf(view.introducedBy),
  ...reviewPart(view),
  ...rowsPart(changes, view, detail),
  ...(detail.shows('diff') ? [folded('Before and after, written as in a manifest', detail.diff())] : []),
]

const drift = (view: PlanView, detail: Detail): readonly string[] => {
  const { drift: changes, introduced } = view.origin
  if (changes.length === 0) return []
  return [
    `**Existing drift: ${counted(changes.length, 'compute')}**`,
    `Not introduced here: the live project already differs from the manifests at the base commit.${introduced.length === 0 ? '' : ` ${verdict(changes)}`}`,
    ...rowsPart(changes, view, detail),
  ]
}

const foldedList = (title: string, noun: string, items: readonly string[]): readonly string[] =>
  items.length === 0
    ? []
    : [folded(`${title}: ${counted(items.length, noun)}`, items.map((item) => `- ${item}`).join('\n'))]
