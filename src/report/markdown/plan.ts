/** The plan as a pull request comment. Its effect comes first, then introduced changes and drift, then details. */
import { counted, group } from '../../base/index.ts'
import { type Change, isEmptyPlan, type Plan } from '../../model/index.ts'
import { warningsBeside } from '../words/alike.ts'
import { capitalised } from '../words/counts.ts'
import { impactWords, interrupting, worstFirst } from '../words/impacts.ts'
import { type Since, withNamesOf } from '../words/names.ts'
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
  computeText,
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
  const unmanaged = plan.unmanaged.map((one) => `${computeText(one, plan)} ${literal(one.compute.id ?? '')}`)
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

const footer = ({ commit, takenAt, introducedBy }: PlanView): readonly string[] => {
  const known = [
    ...(commit === undefined ? [] : [`commit ${literal(commit)}`]),
    ...(takenAt === undefined ? [] : [`snapshot of ${literal(takenAt)}`]),
  ].join(', ')
  const sentences = [
    ...(known === '' ? [] : [`${capitalised(known)}.`]),
    ...(typeof introducedBy === 'string' ? ['Nothing is changed until the merge.'] : []),
  ]
  return sentences.length === 0 ? [] : [`<sub>${sentences.join(' ')}</sub>`]
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
    ...(released === '' ? [] : [`No longer managed: ${released}.`]),
    ...(leftOut === undefined ? [] : [`${leftOut} could not be planned.`]),
  ]
  if (!isEmptyPlan(plan)) {
    const share = origin.drift.length === 0 ? '' : `\n\n${shareOf(view)}`
    return heading(view, `${[planVerdict(plan, literal).replace(/^N/, 'n'), ...others].join(' ')}${share}`)
  }
  if (others.length > 0) {
    return heading(view, [...(leftOut === undefined ? ['nothing is interrupted.'] : []), ...others].join(' '))
  }
  return heading(view, `no${emptyVerdict(plan).slice('No'.length).replace('. ', '\n\n')}`)
}

const shareOf = ({ origin: { introduced, drift }, introducedBy }: PlanView): string => {
  const { subject, act } = introducerWords(introducedBy)
  if (introduced.length === 0) {
    return typeof introducedBy === 'object'
      ? `All of these changes correct existing drift, and ${act} applies them.`
      : `${capitalised(subject)} changes no compute itself. All of these changes correct existing drift, and ${act} applies them.`
  }
  return `${capitalised(subject)} introduces ${counted(introduced.length, 'change')}. ${capitalised(act)} also corrects existing drift of ${counted(drift.length, 'compute')}.`
}

/** Names what introduces the changes and what applies the plan, and gives the changes a title. */
const introducerWords = (introducer: Introducer | undefined) => {
  if (typeof introducer === 'object') {
    const ref = literal(introducer.since)
    return { subject: `the work since ${ref}`, act: '`espalier apply`', title: `**Introduced since ${ref}**` }
  }
  const title = introducer === undefined ? '**Differences from the manifests**' : `**Introduced by ${introducer}**`
  return { subject: introducer ?? 'this pull request', act: 'the merge', title }
}

/** The changes that have no row, because the comment would be too long. */
const unfit = ({ plan, origin: { introduced, drift }, recordOf }: PlanView, { rows }: Detail): readonly string[] => {
  const others = new Set([...introduced, ...drift].filter((change) => !rows.has(change)).map(({ id }) => id))
  if (others.size === 0) return []
  const verb = others.size === 1 ? 'does' : 'do'
  const words = recordOf === undefined ? '' : ' and cannot be applied as reviewed'
  const advice = recordOf === undefined ? '' : ' Approve them in an environment, or split the pull request.'
  const left = plan.changes.filter(({ id }) => others.has(id))
  return [`**${counted(others.size, 'change')} ${verb} not fit here${words}.**${advice} Of these: ${verdict(left)}`]
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
  introducerWords(view.introducedBy).title,
  ...alert(changes, view.plan),
  ...reviewPart(view),
  ...rowsPart(changes, view, detail),
  ...(detail.shows('diff') ? [folded('Before and after, written as in a manifest', detail.diff())] : []),
]

/** An alert box that names the worst five changes. */
const alert = (all: readonly Change[], plan: Plan): readonly string[] => {
  const notable = interrupting(all.filter(({ refused }) => refused === undefined))
  if (notable.length === 0) return []
  const deletes = notable.some(({ kind, impact }) => kind === 'delete' || impact === 'delete' || impact === 'replace')
  const lineOf = (change: Change): string => `> - ${computeText(change, plan)}: ${impactWords(change)}`
  const named = notable.slice(0, 5).map(lineOf)
  const more = notable.length > named.length ? [`> - and ${group(notable.length - named.length)} more`] : []
  return [[`> [!${deletes ? 'CAUTION' : 'WARNING'}]`, ...named, ...more].join('\n')]
}

const drift = (view: PlanView, detail: Detail): readonly string[] => {
  const { drift: changes, introduced } = view.origin
  if (changes.length === 0) return []
  const { subject, act } = introducerWords(view.introducedBy)
  return [
    `**Existing drift: ${counted(changes.length, 'compute')}**`,
    // If nothing is introduced, the headline has said the rest.
    introduced.length === 0
      ? 'The live project differs from the manifests at the base commit.'
      : `Not introduced by ${subject}: the live project differs from the manifests at the base commit. ${capitalised(act)} also corrects this drift: ${verdict(changes)}`,
    ...rowsPart(changes, view, detail),
  ]
}

const foldedList = (title: string, noun: string, items: readonly string[]): readonly string[] =>
  items.length === 0
    ? []
    : [folded(`${title}: ${counted(items.length, noun)}`, items.map((item) => `- ${item}`).join('\n'))]
