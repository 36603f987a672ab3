/** The parts of a plan's Markdown other than its changes. */
import { counted, group, groupBy, listed } from '../../base/index.ts'
import { type Change, type Consent, computeTitle, isRefused, type Plan } from '../../model/index.ts'
import { alikeByProject } from '../words/alike.ts'
import { costDetails, costWeight, planCostWords } from '../words/cost.ts'
import { consentWords, impactWords, isDisruptive } from '../words/impacts.ts'
import { numberedSteps, type PlanNames, place, planNames } from '../words/names.ts'
import { deniedBy, overriddenWords, policyLines } from '../words/plan-lines.ts'
import {
  type ReleasedGroup,
  releasedComputes,
  releasedCounts,
  releasedGroups,
  releasedHint,
} from '../words/released.ts'
import { asked, boxed, diagnosticText, folded, linked, literal, mermaidText, type PlanView, table } from './text.ts'

/** How many rows are shown. Further rows are only counted. */
const MOST_SHOWN = 50

/** Computes and attributes. Safeguards are a decision. */
export const releasedPart = ({ plan, origin }: PlanView): readonly string[] => {
  const released = origin.released.filter(({ kind }) => kind !== 'safeguard')
  if (releasedCounts(released) === '') return []
  const names = planNames(plan, released)
  const { isFleet, project: titleOf } = names
  const head = [...(isFleet ? ['project'] : []), 'branch', 'compute', 'was declared at']
  const computes = releasedComputes(released)
  const rows = computes.slice(0, MOST_SHOWN).map(({ project, branch, compute, disabled, source }) => [
    ...(isFleet ? [literal(titleOf(project))] : []),
    literal(branch.name),
    `${literal(computeTitle(compute))}${compute.id === undefined ? '' : `<br>${literal(compute.id)}`}${disabled === true ? '<br>disabled' : ''}`,
    // This is not a link, because the line is in the base, and may not exist in the head.
    literal(place(source)),
  ])
  const more = computes.length - rows.length
  const groups = releasedGroups(released, names)
  const lines = groups
    .slice(0, MOST_SHOWN)
    .map(({ what, where, result }) => `- ${literal(what)} on ${literal(where)}: ${literal(result)}`)
  return [
    '**No longer managed**',
    ...(computes.length === 0
      ? []
      : [table(head, rows), ...(more > 0 ? [`And ${group(more)} more.`] : []), releasedHint(computes)]),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(groups.length > lines.length ? [`And ${group(groups.length - lines.length)} more.`] : []),
  ]
}

export const leftOutPart = (
  { plan, linkTo }: Pick<PlanView, 'plan' | 'linkTo'>,
  withReasons: boolean,
): readonly string[] => {
  const { leftOut } = plan
  if (leftOut === undefined) return []
  const problems = alikeByProject(plan).flatMap(({ title, problems }) =>
    problems.map(({ diagnostic, same }) => {
      const { source } = diagnostic
      const where = source === undefined ? [] : [linked(literal(place(source)), linkTo?.(source.file, source.line))]
      return [`> - ${literal(title)}: ${diagnosticText(diagnostic)}`, ...where, ...same.map(literal)].join(' ')
    }),
  )
  const shown = withReasons ? problems.slice(0, MOST_SHOWN) : []
  const more = problems.length - shown.length
  const rest = more > 0 ? [`> - and ${counted(more, 'more problem')}`] : []
  return [['> [!CAUTION]', `> Left out: ${counted(leftOut.length, 'project')}`, ...shown, ...rest].join('\n')]
}

/** One line each for cost, policies and service updates. */
export const reviewPart = ({
  plan,
  costThreshold = 0,
}: Pick<PlanView, 'plan' | 'costThreshold'>): readonly string[] => {
  const isSmall = plan.cost !== undefined && costWeight(plan.cost.total) < costThreshold
  const cost = isSmall ? undefined : planCostWords(plan)
  const updates = new Set((plan.maintenance ?? []).map(({ sentence }) => sentence))
  const checks = [...overriddenWords(plan).map(literal), tierWords(plan), ...[...updates].map(literal)]
  const found = checks.filter((words) => words !== undefined)
  const proposed = plan.policies?.changes ?? []
  const lines = [
    ...(cost === undefined ? [] : [`**Cost:** ${cost}`]),
    ...(found.length === 0 ? [] : [`**Checks:** ${found.join(' · ')}`]),
    ...(proposed.length === 0 ? [] : [`**Policies, after the merge:** ${proposed.map(literal).join(' · ')}`]),
  ]
  // GitHub renders newlines as line breaks in comments, but not in summaries.
  return lines.length === 0 ? [] : [lines.join('<br>')]
}

/** The most decisions of a kind that are listed. */
const MOST_DECISIONS = 5

/** What is asked of the reviewer, with what does not fit, is denied, needs consent, or is no longer safe. */
export const decisionsPart = (view: PlanView, first: readonly string[]): readonly string[] => {
  const { plan } = view
  const weakened = weakenedSafeguards(view).map(
    ({ what, where, result }) => `**Weakened:** ${literal(what)} on ${literal(where)}: ${literal(result)}`,
  )
  const denied = policyLines(plan, false).filter(({ isDenied }) => isDenied)
  const lines = [
    ...first,
    ...shortened(denied.map(({ text }) => `**Denied:** ${literal(text)}`)),
    ...consentLines(plan),
    ...shortened(weakened, MOST_SHOWN),
  ]
  const ask = askOf(view, weakened.length)
  const head = ask === undefined ? ['**Needs a decision**'] : asked([ask])
  const isStopped = ask !== undefined && plan.summary.refused > 0
  if (lines.length > 0 || isStopped) return [boxed('CAUTION', [...head, ...lines.map((line) => `- ${line}`)])]
  if (ask === undefined) return []
  return plan.changes.some(canInterrupt) ? [boxed('WARNING', head)] : head
}

const canInterrupt = ({ impact, unlessIdle }: Change): boolean => isDisruptive(impact) || unlessIdle !== undefined

/** What to do about a pull request. `undefined` for other plans, whose readers are unknown. */
const askOf = ({ plan, origin: { released }, introducedBy }: PlanView, weakened: number): string | undefined => {
  if (introducedBy !== 'this pull request') return undefined
  const made = plan.changes.filter((change) => !isRefused(change))
  const loud = made.filter(canInterrupt)
  const deleted = made.filter(({ kind }) => kind === 'delete').length
  const isInWindow = loud.every(({ windows }) => windows !== undefined)
  const reasons = deniedBy(plan).policies.map((name) => literal(`${name}=REASON`))
  const fixes = [
    plan.leftOut !== undefined && 'Fix the errors below.',
    reasons.length > 0 && `Change what is denied, or set the input \`override\` of the workflow to ${listed(reasons)}.`,
    plan.changes.some((change) => isRefused(change) && change.isDenied !== true) &&
      'Undo what is refused, or first lift what forbids it in a pull request of its own.',
  ].filter((words) => words !== false)
  const accepted = [
    deleted > 0 && (deleted === 1 ? 'the compute may be deleted' : 'the computes may be deleted'),
    loud.length > deleted && `existing connections may drop${isInWindow ? ' in the restart window' : ''}`,
    weakened > 0 && `the ${weakened === 1 ? 'safeguard' : 'safeguards'} may be weakened`,
    (plan.policies?.changes ?? []).length > 0 && 'the policies may change',
    releasedCounts(released.filter(({ kind }) => kind !== 'safeguard')) !== '' &&
      'Espalier may stop managing what is listed below',
  ].filter((words) => words !== false)
  const approve = accepted.length > 0 ? `Approve only if ${accepted.join(' and ')}.` : 'Nothing but your review.'
  const takesEffect = accepted.length > 0 && fixes.length === 0 ? ' It takes effect with the merge.' : ''
  const applied =
    askedConsents(plan).length > 0 ? 'what the workflow allows' : `the ${fixes.length > 0 ? 'other ' : ''}changes`
  const merge = made.length > 0 ? ` The merge applies ${applied}.` : takesEffect
  return `${fixes.length > 0 ? `Do not merge yet. ${fixes.join(' ')}` : approve}${merge}`
}

/** Safeguards that become weaker in the same way are one. */
export const weakenedSafeguards = ({ plan, origin: { released } }: PlanView): readonly ReleasedGroup[] =>
  releasedGroups(
    released.filter(({ kind }) => kind === 'safeguard'),
    planNames(plan, released),
  )

const shortened = (lines: readonly string[], most = MOST_DECISIONS): readonly string[] =>
  lines.length <= most ? lines : [...lines.slice(0, most), `and ${group(lines.length - most)} more like these`]

/** The consents that the Action does not give by default, for each step that needs one. */
const askedConsents = ({ steps }: Plan): readonly Consent[] =>
  steps.flatMap(({ refused, consents }) =>
    refused === undefined ? consents.filter((consent) => consent !== 'restart') : [],
  )

const consentLines = (plan: Plan): readonly string[] =>
  [...groupBy(askedConsents(plan), (consent) => consent)].map(
    ([consent, { length }]) =>
      `**Applied only if the workflow has \`allow: ${consent}\`:** ${consentWords(consent, length)}.`,
  )

const LIMITS = /^W_(TIER|QUOTA)/

const tierWords = ({ warnings }: Plan): string | undefined => {
  const found = warnings.filter(({ code }) => LIMITS.test(code) && code !== 'W_TIER_UNKNOWN').length
  return found === 0 ? undefined : `${counted(found, 'limit')} of the account's plan (see the warnings)`
}

export const reviewDetails = (plan: Plan): readonly string[] => {
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${literal(line)}`).join('\n')
  const policies = policyLines(plan, false).map(({ text }) => text)
  const costs = costDetails(plan)
  return [
    ...(policies.length === 0 ? [] : [folded(`Policies: ${policies.length}`, list(policies))]),
    ...(costs.length === 0 ? [] : [folded('Cost, service updates and expiry', list(costs))]),
  ]
}

/** A graph with more nodes than this is unreadable. */
const MOST_STEPS = 25

/** The order of the steps that will run, as a list and as a Mermaid graph, which GitHub draws. */
export const stepsPart = (whole: Plan, withGraph: boolean): readonly string[] => {
  const plan = { ...whole, steps: whole.steps.filter(({ refused }) => refused === undefined) }
  if (plan.steps.length === 0) return []
  const names = planNames(plan)
  const lines = plan.steps.map(
    (step, index) =>
      `${index + 1}. ${literal(names.step(step))}${isDisruptive(step.impact) ? `: **${impactWords(step)}**` : ''}`,
  )
  const graph = withGraph ? stepGraph(plan, names) : undefined
  const text = `${graph === undefined ? '' : `${graph}\n\n`}${lines.join('\n')}`
  return [folded(`Order of ${counted(plan.steps.length, 'step')}`, text)]
}

/** `undefined` if there is nothing to draw, or too much for one graph. */
const stepGraph = (plan: Plan, names: PlanNames): string | undefined => {
  if (plan.steps.length < 2 || plan.steps.length > MOST_STEPS) return undefined
  const steps = numberedSteps(plan)
  const nodes = steps.map(({ step, number }) => {
    const label = mermaidText(`${number}. ${names.step(step)}`)
    return `  s${number}["${label}"]${isDisruptive(step.impact) ? ':::loud' : ''}`
  })
  const last = new Map<string, number>()
  const edges = steps.flatMap(({ step, number, waitsFor }) => {
    // A project runs one step at a time, so each step also waits for the previous step.
    const previous = last.get(step.project)
    last.set(step.project, number)
    const drawn = new Set([...(previous === undefined ? [] : [previous]), ...waitsFor])
    return [...drawn].map((from) => `  s${from} --> s${number}`)
  })
  return ['```mermaid', 'graph LR', ...nodes, ...edges, '  classDef loud stroke:#b35900,stroke-width:3px', '```'].join(
    '\n',
  )
}
