/** Shows a plan on a terminal. */
import { counted, group, groupBy, plainText, plainValue } from '../../base/index.ts'
import {
  type Change,
  isEmptyPlan,
  type Plan,
  type Released,
  type Step,
  type UnmanagedCompute,
} from '../../model/index.ts'
import { alikeByProject, warningsBeside } from '../words/alike.ts'
import { planCostWords, projectCostLines, remarksOf } from '../words/cost.ts'
import { capitalised, minuteOf } from '../words/counts.ts'
import { DELETE_WORDS, isDisruptive } from '../words/impacts.ts'
import { type NumberedStep, numberedSteps, place, planNames, type Since, withNamesOf } from '../words/names.ts'
import {
  coverageLine,
  emptyVerdict,
  expectedTime,
  interruptions,
  isUnchanged,
  measuresOf,
  planLine,
  policyLines,
  projectsLeftOut,
  skippedLines,
  unmanagedWords,
  waveLines,
} from '../words/plan-lines.ts'
import { releasedComputes, releasedGroups, releasedHint, releasedParts, unmanagedState } from '../words/released.ts'
import { areExplained } from '../words/rows.ts'
import { diagnosticText } from './diagnostics.ts'
import { changeRows, type PlanContext, type PlanFrame, requiredConsents } from './plan-changes.ts'
import { impactMark, pad, paintOf, type Style, textWidth, wrap, wrapped } from './style.ts'

export const terminalPlan = (raw: Plan, style: Style, extra: PlanContext = {}): string => {
  const plan = plainValue(raw)
  const isDetailed = extra.detail === true
  const frame: PlanFrame = {
    ...extra,
    plan,
    isDetailed,
    style,
    paint: paintOf(style),
    names: planNames(plan),
    remarks: remarksOf(plan, isDetailed),
  }
  const sections = [
    ...(extra.since === undefined ? changeRows(plan.changes, frame) : originSections(plainValue(extra.since), frame)),
    stepsSection(frame),
    wavesSection(frame),
    skippedSection(frame),
    isDetailed ? unmanagedSection(frame) : '',
    warningsSection(frame),
    isDetailed ? capacitySection(frame) : '',
    policiesSection(frame),
    leftOutSection(frame),
    closing(frame),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

const originSections = ({ ref, origin }: Since, frame: PlanFrame): readonly string[] => {
  const { plan, style, paint } = frame
  const part = (title: string, changes: readonly Change[]): readonly string[] => {
    const heading = paint.bold(paint.cyan(`${title}: ${counted(changes.length, 'change')}`))
    return changes.length === 0 ? [] : [[wrapped(heading, style), ...changeRows(changes, frame)].join('\n')]
  }
  const { introduced, drift, settled, released, gaps = [] } = origin
  return [
    ...gaps.map((gap) => wrapped(`${paint.yellow('Note')} ${gap}`, style)),
    ...(isUnchanged(plan, origin) ? [wrap(`The manifests introduce no changes since ${ref}.`, style, '', '')] : []),
    ...part(`Introduced since ${ref}`, introduced),
    ...releasedSections(released, ref, frame),
    ...part('Existing drift', drift),
    ...(settled.length === 0 ? [] : [`Drift that the manifests now accept: ${counted(settled.length, 'compute')}`]),
  ]
}

const MOST_SHOWN = 20

/** A section with a title and a line for each of the first 20 items. */
const list = <T>(
  title: string,
  items: readonly T[],
  lineOf: (item: T) => string,
  { style, paint }: PlanFrame,
): string => {
  const more = items.length - MOST_SHOWN
  return [
    wrapped(title, style),
    ...items.slice(0, MOST_SHOWN).map((item) => wrapped(lineOf(item), style, 2)),
    ...(more > 0 ? [paint.dim(`  and ${group(more)} more`)] : []),
  ].join('\n')
}

const releasedSections = (released: readonly Released[], ref: string, frame: PlanFrame): readonly string[] => {
  const { plan, style, paint } = frame
  const names = planNames(plan, released)
  return releasedParts(released).map(({ title, counts, own }) => {
    const computes = releasedComputes(own)
    const lines = [
      ...computes.map((one) => {
        const details = `  ${one.compute.id}  ${unmanagedState(one)}  was declared at ${place(one.source)}`
        return `${names.compute(one)}${paint.dim(details)}`
      }),
      ...releasedGroups(own, names).map(({ what, where, result }) => `${what} on ${where}: ${result}`),
    ]
    const head = paint.bold(paint.cyan(`${title} since ${ref}: ${counts}`))
    const hint = computes.length === 0 ? [] : [wrap(releasedHint(computes), style, '  ', '  ')]
    return [list(head, lines, String, frame), ...hint].join('\n')
  })
}

/** A replica is declared absent by its name. */
const canBeAbsent = ({ compute: { type, name } }: UnmanagedCompute): boolean =>
  type === 'read_write' || name !== undefined

const unmanagedSection = (frame: PlanFrame): string => {
  const { plan, paint, names } = frame
  const { unmanaged } = plan
  if (unmanaged.length === 0) return ''
  const title = `${paint.bold(`Unmanaged: ${counted(unmanaged.length, 'compute')}`)}${paint.dim(`, which no manifest declares (to delete one: ${unmanaged.every(canBeAbsent) ? '`absent`' : '`absent`, or `espalier compute delete` if it has no name'})`)}`
  const lineOf = (one: UnmanagedCompute): string =>
    `${names.compute(one)}${paint.dim(`  ${one.compute.id}  ${unmanagedState(one)}`)}`
  return list(title, unmanaged, lineOf, frame)
}

const skippedSection = (frame: PlanFrame): string => {
  const lines = skippedLines(frame.plan)
  const title = frame.paint.bold(`Skipped: ${counted(lines.length, 'change')}`)
  return lines.length === 0 ? '' : list(title, lines, String, frame)
}

/** How many warnings with the same code are shown. The JSON plan contains all of them. */
const MOST_ALIKE = 3

const warningsSection = ({ plan, isDetailed, style, paint }: PlanFrame): string =>
  [...groupBy(isDetailed ? plan.warnings : warningsBeside(plan), ({ code }) => code)]
    .flatMap(([code, all]) => {
      const shown = all.slice(0, MOST_ALIKE)
      const more = all.length - shown.length
      return [
        ...shown.map((warning) => diagnosticText(withNamesOf(plan)(warning), style, paint)),
        ...(more > 0 ? [paint.dim(`  and ${counted(more, 'more warning')} ${code}`)] : []),
      ]
    })
    .join('\n')

const leftOutSection = (frame: PlanFrame): string => {
  const { plan, style, paint } = frame
  if (plan.leftOut === undefined) return ''
  const others = `; \`apply\` applies the others${plan.waves === undefined ? '' : ', but no later wave'}`
  return [
    wrapped(
      `${paint.bold(paint.red(`Left out: ${projectsLeftOut(plan)} could not be planned`))}${plan.projects.length === 0 ? '' : paint.dim(others)}`,
      style,
    ),
    ...alikeByProject(plan).flatMap(({ title, problems }) => [
      wrapped(paint.bold(`Project ${title}`), style, 2),
      ...problems.flatMap(({ diagnostic, same }) => [
        diagnosticText(diagnostic, style, paint, undefined, 4),
        ...same.map((words) => wrapped(words, style, 6)),
      ]),
    ]),
  ].join('\n')
}

/** By default, only the steps that must wait for others, or that others wait for. */
const stepsSection = ({ plan, isDetailed, names, style, paint }: PlanFrame): string => {
  const width = String(plan.steps.length).length
  const numbered = numberedSteps(plan)
  const awaited = new Set(numbered.flatMap(({ step }) => dependenciesOf(step)))
  const shown = isDetailed
    ? numbered
    : numbered.filter(({ step }) => awaited.has(step.id) || dependenciesOf(step).length > 0)
  if (shown.length === 0) return ''
  const lineOf = ({ step, waitsFor }: NumberedStep): string =>
    [
      `${names.step(step)}${step.reason === 'PARKED' ? ', temporarily' : ''}`,
      isDisruptive(step.impact) ? `  ${impactMark(step.impact, paint)}` : '',
      waitsFor.length === 0 ? '' : paint.dim(`  after ${waitsFor.join(', ')}`),
      step.windows === undefined || !isDisruptive(step.impact) ? '' : paint.cyan('  in its restart window'),
      step.refused === undefined ? '' : paint.red('  refused'),
    ].join('')
  const most = isDetailed ? shown.length : MOST_SHOWN
  const note = names.isMixed ? '  projects run concurrently, with one step at a time in each' : ''
  return [
    wrapped(`${paint.bold('Order of steps')}${paint.dim(note)}`, style),
    ...shown
      .slice(0, most)
      .map((one) => wrap(lineOf(one), style, `  ${String(one.number).padStart(width)}. `, ' '.repeat(width + 4))),
    ...(shown.length > most ? [paint.dim(`  and ${group(shown.length - most)} more`)] : []),
  ].join('\n')
}

/** The steps that must be done first, apart from those that are only kept from running at the same time. */
const dependenciesOf = ({ after, inTurnAfter = [] }: Step): readonly string[] =>
  after.filter((id) => !inTurnAfter.includes(id))

const wavesSection = ({ plan, style, paint }: PlanFrame): string => {
  const lines = waveLines(plan)
  return lines.length === 0 ? '' : wrapped(`${paint.bold('Waves')}  ${lines.join(' → ')}`, style)
}

const policiesSection = ({ plan, style, paint }: PlanFrame): string => {
  const results = policyLines(plan).map(({ text, isDenied }) => (isDenied ? paint.red(text) : text))
  const lines = [...results, ...(plan.policies?.changes ?? [])].map((text) => wrapped(text, style, 2))
  return lines.length === 0 ? '' : [paint.bold('Policies'), ...lines].join('\n')
}

const capacitySection = ({ plan, style, paint, takenAt }: PlanFrame): string => {
  const changed = measuresOf(plan.summary.capacity).filter(({ before, after }) => before.words !== after.words)
  const title = `${paint.bold('Capacity')}${paint.dim('  of all computes in these projects, at their maximum size')}`
  const lines = changed.map(({ name, before, after }) =>
    wrap(`${pad(name, 17)}${before.words} → ${after.words}`, style, '  ', ' '.repeat(19)),
  )
  const facts = [
    ...(plan.steps.length === 0 ? [] : [counted(plan.summary.calls, 'API call')]),
    coverageLine(plan),
    ...(takenAt === undefined ? [] : [`Snapshot of ${minuteOf(plainText(takenAt))}`]),
  ]
  return [
    ...(lines.length === 0 ? [] : [wrapped(title, style), ...lines]),
    ...(plan.estimates.length === 0 ? [] : [wrapped(`${paint.bold('Time')}  ${expectedTime(plan)}`, style)]),
    ...projectCostLines(plan).map((line) => wrapped(`${paint.bold('Cost')}  ${line}`, style)),
    wrap(paint.dim(facts.map((one) => `${one}.`).join(' ')), style, '', ''),
  ].join('\n')
}

/** The counts, the cost, and where to find the rest. */
const closing = ({ plan, isDetailed, style, paint, since, allowed }: PlanFrame): string => {
  const unmanaged = unmanagedWords(plan).map((words) => ` ${words}.`)
  if (isEmptyPlan(plan)) {
    const color = plan.leftOut === undefined ? paint.green : paint.bold
    return wrap(`${color(emptyVerdict(plan, since?.origin))}${unmanaged.join('')}`, style, '', '')
  }
  const consents = requiredConsents(plan)
  const missing = consents.filter((consent) => allowed?.has(consent) !== true)
  const needs = [
    ...(missing.length === 0 ? [] : [`\`apply\` needs --allow ${missing.join(',')}.`]),
    ...(consents.includes('delete') ? [DELETE_WORDS] : []),
  ]
  const noticed = interruptions(plan)
  const counts = `${planLine(plan.summary)}${noticed === '' ? '' : ` ${capitalised(noticed)}.`}`
  const cost = planCostWords(plan)
  const last = cost === undefined ? `${counts}${unmanaged.join('')}` : `Cost: ${cost}.`
  const hint = isDetailed ? '' : `${areExplained(plan) ? 'Capacity' : 'Places, capacity'}, order: --detail`
  const room = style.width - textWidth(last) - textWidth(hint)
  return [
    ...(needs.length === 0 ? [] : [wrap(paint.yellow(needs.join(' ')), style, '', '')]),
    ...(cost === undefined ? [] : [wrap(`${paint.bold(counts)}${unmanaged.join('')}`, style, '', '')]),
    ...(room >= 2 && hint !== ''
      ? [`${cost === undefined ? paint.bold(last) : last}${' '.repeat(Math.min(room, 6))}${paint.dim(hint)}`]
      : [wrap(last, style, '', ''), ...(hint === '' ? [] : [paint.dim(hint)])]),
  ].join('\n')
}
