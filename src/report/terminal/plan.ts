/** Shows a plan on a terminal. */
import { counted, group, groupBy, plainText, plainValue } from '../../base/index.ts'
import {
  type Change,
  isEmptyPlan,
  type Plan,
  type ReleasedCompute,
  type Step,
  type UnmanagedCompute,
} from '../../model/index.ts'
import { alike, sameErrorWords } from '../words/alike.ts'
import { planCostWords, planMoneyWords, projectCostLines, remarksOf } from '../words/cost.ts'
import { capitalised, minuteOf, time } from '../words/counts.ts'
import { isDisruptive } from '../words/impacts.ts'
import { type NumberedStep, numberedSteps, place, planNames, type Since, withNamesOf } from '../words/names.ts'
import {
  coverageLine,
  emptyVerdict,
  expectedMs,
  expectedTime,
  interruptions,
  isUnchanged,
  measuresOf,
  planLine,
  policyLines,
  projectsLeftOut,
  RELEASED_HINT,
  skippedLines,
  waveLines,
} from '../words/plan-lines.ts'
import { diagnosticText } from './diagnostics.ts'
import { compactChanges, detailedChanges, type PlanContext, type PlanFrame, requiredConsents } from './plan-changes.ts'
import { impactMark, pad, paintOf, type Style, textWidth, wrap, wrapped } from './style.ts'

/** With more changes than this, each change is shown on one line by default. */
const MOST_DETAILED = 12

export const terminalPlan = (raw: Plan, style: Style, extra: PlanContext = {}): string => {
  const plan = plainValue(raw)
  const isCompact = extra.detail !== true && plan.changes.length > MOST_DETAILED
  const frame: PlanFrame = {
    ...extra,
    plan,
    isCompact,
    style,
    paint: paintOf(style),
    names: planNames(plan),
    consents: requiredConsents(plan),
    remarks: remarksOf(plan),
  }
  const show = isCompact ? compactChanges : detailedChanges
  const sections = [
    ...(extra.since === undefined ? show(plan.changes, frame) : originSections(plainValue(extra.since), frame, show)),
    stepsSection(frame, isCompact ? false : extra.detail),
    wavesSection(frame),
    skippedSection(frame),
    unmanagedSection(frame),
    warningsSection(frame),
    capacitySection(frame),
    costSection(frame),
    policiesSection(frame),
    leftOutSection(frame),
    closing(frame),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

const originSections = ({ ref, origin }: Since, frame: PlanFrame, show: typeof detailedChanges): readonly string[] => {
  const { plan, style, paint } = frame
  const part = (title: string, changes: readonly Change[]): readonly string[] => {
    const heading = paint.bold(paint.cyan(`${title}: ${counted(changes.length, 'change')}`))
    return changes.length === 0 ? [] : [wrapped(heading, style), ...show(changes, frame)]
  }
  const { introduced, drift, settled, released, gaps = [] } = origin
  return [
    ...gaps.map((gap) => wrapped(`${paint.yellow('Note')} ${gap}`, style)),
    ...(isUnchanged(plan, origin) ? [wrap(`The manifests introduce no changes since ${ref}.`, style, '', '')] : []),
    ...part(`Introduced since ${ref}`, introduced),
    releasedSection(released, ref, frame),
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

const releasedSection = (released: readonly ReleasedCompute[], ref: string, frame: PlanFrame): string => {
  if (released.length === 0) return ''
  const { plan, style, paint } = frame
  const names = planNames(plan, released)
  const title = `No longer managed since ${ref}: ${counted(released.length, 'compute')}`
  const lineOf = (one: ReleasedCompute): string => {
    const details = `  ${one.compute.id}  ${one.compute.state}  was declared at ${place(one.source)}`
    return `${names.compute(one)}${paint.dim(details)}`
  }
  return `${list(paint.bold(paint.cyan(title)), released, lineOf, frame)}\n${wrap(RELEASED_HINT, style, '  ', '  ')}`
}

const unmanagedSection = (frame: PlanFrame): string => {
  const { plan, isCompact, style, paint, names } = frame
  const { unmanaged } = plan
  if (unmanaged.length === 0) return ''
  const title = `${paint.bold(`Unmanaged: ${counted(unmanaged.length, 'compute')}`)}${paint.dim(', which no manifest declares (to delete one: `absent`)')}`
  if (isCompact) return wrapped(`${title}${paint.dim('; --detail lists them')}`, style)
  const lineOf = (one: UnmanagedCompute): string =>
    `${names.compute(one)}${paint.dim(`  ${one.compute.id}  ${one.compute.state}`)}`
  return list(title, unmanaged, lineOf, frame)
}

const skippedSection = (frame: PlanFrame): string => {
  const lines = skippedLines(frame.plan)
  const title = frame.paint.bold(`Skipped: ${counted(lines.length, 'change')}`)
  return lines.length === 0 ? '' : list(title, lines, String, frame)
}

/** How many warnings with the same code are shown. The JSON plan contains all of them. */
const MOST_ALIKE = 3

const warningsSection = (frame: PlanFrame): string =>
  [...groupBy(frame.plan.warnings.map(withNamesOf(frame.plan)), ({ code }) => code)]
    .flatMap(([code, alike]) => {
      const shown = alike.slice(0, frame.isCompact ? 1 : MOST_ALIKE)
      const more = alike.length - shown.length
      return [
        ...shown.map((warning) => diagnosticText(warning, frame.style, frame.paint)),
        ...(more > 0 ? [frame.paint.dim(`  and ${counted(more, 'more warning')} ${code}`)] : []),
      ]
    })
    .join('\n')

const leftOutSection = (frame: PlanFrame): string => {
  const { plan, names, style, paint } = frame
  if (plan.leftOut === undefined) return ''
  const groups = new Map(
    alike(plan.leftOut.flatMap(({ diagnostics }) => diagnostics)).map(({ first, others }) => [first, others]),
  )
  return [
    wrapped(
      `${paint.bold(paint.red(`Left out: ${projectsLeftOut(plan)} could not be planned`))}${plan.projects.length === 0 ? '' : paint.dim('; to apply the others anyway, pass --keep-going to `apply`')}`,
      style,
    ),
    ...plan.leftOut.flatMap(({ project, diagnostics }) => {
      const lines = diagnostics.flatMap((diagnostic) => {
        const others = groups.get(diagnostic)?.map(names.project)
        if (others === undefined) return []
        return [
          diagnosticText(withNamesOf(plan)(diagnostic), style, paint, undefined, 4),
          ...(others.length === 0 ? [] : [wrapped(sameErrorWords(others), style, 6)]),
        ]
      })
      return lines.length === 0 ? [] : [wrapped(paint.bold(`Project ${names.project(project)}`), style, 2), ...lines]
    }),
  ].join('\n')
}

/** @param isAsked if `undefined`, shows the order only if it matters: for moves, replacements and restart windows. */
const stepsSection = ({ plan, names, style, paint }: PlanFrame, isAsked: boolean | undefined): string => {
  const isRelevant = ({ kind, reason, windows }: Step): boolean =>
    kind === 'move' || reason === 'TYPE_DIFFERS' || windows !== undefined
  if (plan.steps.length === 0 || !(isAsked ?? plan.steps.some(isRelevant))) return ''
  const width = String(plan.steps.length).length
  const lineOf = ({ step, waitsFor }: NumberedStep): string =>
    [
      `${names.step(step)}${step.reason === 'PARKED' ? ', temporarily' : ''}`,
      isDisruptive(step.impact) ? `  ${impactMark(step.impact, paint)}` : '',
      waitsFor.length === 0 ? '' : paint.dim(`  after ${waitsFor.join(', ')}`),
      step.windows === undefined || !isDisruptive(step.impact) ? '' : paint.cyan('  in its restart window'),
      step.refused === undefined ? '' : paint.red('  refused'),
    ].join('')
  const note = names.isMixed ? '  projects run concurrently, with one step at a time in each' : ''
  return [
    wrapped(`${paint.bold('Order of steps')}${paint.dim(note)}`, style),
    ...numberedSteps(plan).map((one) =>
      wrap(lineOf(one), style, `  ${String(one.number).padStart(width)}. `, ' '.repeat(width + 4)),
    ),
  ].join('\n')
}

const wavesSection = ({ plan, style, paint }: PlanFrame): string => {
  const lines = waveLines(plan).map((line, index) => wrap(`${index + 1}. ${line}`, style, '  ', '     '))
  return lines.length === 0 ? '' : [paint.bold('Waves'), ...lines].join('\n')
}

const costSection = ({ plan, style, paint }: PlanFrame): string => {
  const words = planCostWords(plan)
  if (words === undefined) return ''
  const indent = ' '.repeat(6)
  return [
    wrap(`${paint.bold('Cost')}  ${words}`, style, '', indent),
    ...[planMoneyWords(plan) ?? [], projectCostLines(plan)].flat().map((line) => wrap(line, style, indent, indent)),
  ].join('\n')
}

const policiesSection = ({ plan, style, paint }: PlanFrame): string => {
  const lines = policyLines(plan).map(({ text, isDenied }) => wrapped(isDenied ? paint.red(text) : text, style, 2))
  return lines.length === 0 ? '' : [paint.bold('Policies'), ...lines].join('\n')
}

const capacitySection = ({ plan, isCompact, style, paint }: PlanFrame): string => {
  if (plan.steps.length === 0) return ''
  const isTimed = plan.estimates.length > 0
  const changed = measuresOf(plan.summary.capacity)
    .filter(({ before, after }) => before.words !== after.words)
    .map(({ name, before, after }) => ({ name, words: `${before.words} → ${after.words}` }))
  if (isCompact) {
    const facts = changed.map(({ name, words }) => `${name} ${words}`)
    if (isTimed) facts.push(`about ${time(expectedMs(plan))}`)
    return facts.length === 0 ? '' : wrapped(`${paint.bold('Capacity')}  ${facts.join('; ')}`, style)
  }
  const title = `${paint.bold('Capacity')}${paint.dim('  of all computes in these projects, at their maximum size')}`
  const lines = changed.map(({ name, words }) => wrap(`${pad(name, 17)}${words}`, style, '  ', ' '.repeat(19)))
  return [
    ...(lines.length === 0 ? [] : [wrapped(title, style), ...lines]),
    ...(isTimed ? [wrapped(`${paint.bold('Time')}  ${expectedTime(plan)}`, style)] : []),
  ].join('\n')
}

/** The last line is the summary, which never wraps. Interruptions that do not fit on it are shown on the line above. */
const closing = ({ plan, style, paint, takenAt }: PlanFrame): string => {
  const { summary } = plan
  const snapshot = takenAt === undefined ? [] : [`Snapshot of ${minuteOf(plainText(takenAt))}`]
  const facts = (...sentences: readonly string[]): string =>
    wrap(paint.dim([...sentences, coverageLine(plan), ...snapshot].map((one) => `${one}.`).join(' ')), style, '', '')
  if (isEmptyPlan(plan)) {
    const color = plan.leftOut === undefined ? paint.green : paint.bold
    return `${facts()}\n${color(emptyVerdict(plan))}`
  }
  const [counts, noticed] = [planLine(summary), `${capitalised(interruptions(summary))}.`]
  const calls = facts(counted(summary.calls, 'API call'))
  return textWidth(`${counts} ${noticed}`) <= style.width
    ? `${calls}\n${paint.bold(`${counts} ${noticed}`)}`
    : `${calls}\n${wrap(paint.bold(noticed), style, '', '')}\n${paint.bold(counts)}`
}
