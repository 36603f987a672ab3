/** A plan for the terminal: read once, and understood. */
import { groupBy } from '../../base/index.ts'
import {
  type AttributeChange,
  type Change,
  CONSENTS,
  type Consent,
  IMPACT_WORDS,
  isEmptyPlan,
  type Origin,
  type Plan,
  REASONS,
  type Step,
} from '../../model/index.ts'
import {
  computeTitle,
  counted,
  emptyVerdict,
  group,
  hasSeveralProjects,
  impactWords,
  interruptions,
  isDisruptive,
  isOfFleet,
  isUnchanged,
  place,
  plainText,
  plainValue,
  planCostWords,
  planLine,
  planMoneyWords,
  projectsLeftOut,
  remarksOf,
  SYMBOLS,
  stepTitle,
  time,
  windowWords,
} from '../words/index.ts'
import { leftOutSection, releasedSection, unmanagedSection, warningsSection } from './plan-lists.ts'
import { type Paint, pad, paintOf, type Style, wrap } from './style.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** When the plan is read, ISO 8601: tells which restart windows are open. */
  readonly now?: string
  /** `--now`: steps run outside of their windows too. */
  readonly overridesWindows?: boolean
  /** Since which commit, and what was so before. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
}

/** What a change's lines need beyond the change. */
type Frame = Pick<PlanContext, 'now' | 'overridesWindows'> & {
  /** By change, what must be allowed beyond a yes. */
  readonly consents: ReadonlyMap<string, readonly Consent[]>
  readonly remarks: ReadonlyMap<string, readonly string[]>
}

export const terminalPlan = (raw: Plan, style: Style, extra: PlanContext = {}): string => {
  const plan = plainValue(raw)
  const paint = paintOf(style)
  const frame = { ...extra, consents: consentsOf(plan), remarks: remarksOf(plan) }
  const sections = [
    ...(extra.since === undefined
      ? changeSections(plan.changes, style, paint, frame)
      : originSections(plan, plainValue(extra.since), style, paint, frame)),
    stepsSection(plan, style, paint),
    unmanagedSection(plan, style, paint),
    warningsSection(plan, style, paint),
    capacitySection(plan, style, paint),
    costSection(plan, style, paint),
    leftOutSection(plan, style, paint),
    closing(plan, style, paint, extra.takenAt),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

/** A restart is covered by a yes. */
const consentsOf = ({ steps }: Plan): Frame['consents'] =>
  new Map(
    [...groupBy(steps, ({ change }) => change)].map(([change, own]) => [
      change,
      CONSENTS.filter((consent) => consent !== 'restart' && own.some(({ consents }) => consents.includes(consent))),
    ]),
  )

const originSections = (
  plan: Plan,
  { ref, origin }: NonNullable<PlanContext['since']>,
  style: Style,
  paint: Paint,
  frame: Frame,
): readonly string[] => {
  const part = (title: string, changes: readonly Change[]): readonly string[] =>
    changes.length === 0 ? [] : [paint.bold(paint.cyan(title)), ...changeSections(changes, style, paint, frame)]
  const { introduced, drift, settled, released, gaps = [] } = origin
  return [
    ...gaps.map((gap) => wrap(`${paint.yellow('Note')} ${gap}`, style, '', '  ')),
    ...(isUnchanged(plan, origin) ? [`The manifests introduce no changes since ${ref}.`] : []),
    ...part(`Introduced since ${ref}: ${counted(introduced.length, 'change')}`, introduced),
    releasedSection(released, ref, hasSeveralProjects(plan, released), style, paint),
    ...part(`Drift that was already there: ${counted(drift.length, 'change')}`, drift),
    ...(settled.length === 0 ? [] : [`Drift that the manifests now accept: ${counted(settled.length, 'compute')}`]),
  ]
}

const changeSections = (changes: readonly Change[], style: Style, paint: Paint, frame: Frame): readonly string[] => {
  const sections: string[] = []
  let project = ''
  let branch = ''
  let lines: string[] = []
  const flush = (): void => {
    if (lines.length > 0) sections.push(lines.join('\n'))
    lines = []
  }
  for (const change of changes) {
    if (change.project !== project) {
      flush()
      project = change.project
      branch = ''
      lines.push(paint.bold(`Project ${project}`), '')
    }
    if (change.branch.id !== branch) {
      branch = change.branch.id
      if (lines.length > 2) {
        flush()
      }
      lines.push(paint.bold(`Branch ${change.branch.name}`) + paint.dim(`  ${branch}`))
    }
    lines.push(...changeLines(change, style, paint, frame))
  }
  flush()
  return sections
}

const changeLines = (change: Change, style: Style, paint: Paint, frame: Frame): readonly string[] => {
  const color = { create: paint.green, update: paint.yellow, move: paint.cyan, replace: paint.red, delete: paint.red }[
    change.kind
  ]
  const { id } = change.compute
  const where = change.from === undefined ? '' : `  from ${change.from.name} to ${change.branch.name}`
  const head = `  ${color(pad(SYMBOLS[change.kind], 3))} ${change.kind} ${paint.bold(computeTitle(change.compute))}${where}`
  const told = [id, change.compute.state, change.source && place(change.source)].filter((part) => part !== undefined)
  const width = Math.max(0, ...change.attributes.map(({ path }) => path.length))
  const [first] = change.reasons
  return [
    wrap(head.trimStart() + paint.dim(told.length === 0 ? '' : `  ${told.join('  ')}`), style, '  ', '      '),
    ...change.attributes.map((attribute) => attributeLine(attribute, width, style, paint)),
    wrap(`${impactText(change, paint)}${consentText(change, frame, paint)}`, style, '      ', '        '),
    ...(change.windows === undefined
      ? []
      : [wrap(paint.cyan(windowWords(change, frame.now, frame.overridesWindows)), style, '      ', '        ')]),
    ...(frame.remarks.get(change.id) ?? []).map((remark) => wrap(remark, style, '      ', '        ')),
    ...(first === undefined
      ? []
      : [wrap(paint.dim(`why: ${REASONS[first]} (${change.reasons.join(', ')})`), style, '      ', '        ')]),
    ...(change.refused === undefined
      ? []
      : [wrap(paint.red(`refused: ${change.refused}`), style, '      ', '        ')]),
  ]
}

const attributeLine = (
  { path, beforeText, afterText }: AttributeChange,
  width: number,
  style: Style,
  paint: Paint,
): string => {
  const shown = beforeText === undefined ? afterText : `${beforeText} → ${afterText}`
  return wrap(`${paint.dim(pad(path, width))}  ${shown}`, style, '      ', ' '.repeat(8 + width))
}

/** The mark is a character and a word, so that it stands out without colour too. */
const impactText = (change: Pick<Change, 'impact' | 'unlessIdle'>, paint: Paint): string => {
  const words = impactWords(change)
  if (!isDisruptive(change.impact)) return paint.green(words)
  return paint.bold(paint.red(`! ${words}`))
}

/** What is refused runs with no flag at all. */
const consentText = ({ id, refused }: Change, { consents }: Frame, paint: Paint): string => {
  const needed = consents.get(id) ?? []
  return needed.length === 0 || refused !== undefined ? '' : paint.yellow(`  needs --allow ${needed.join(',')}`)
}

const stepsSection = (plan: Plan, style: Style, paint: Paint): string => {
  if (plan.steps.length === 0) return ''
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const numbers = new Map(plan.steps.map((step, index) => [step.id, index + 1]))
  const width = String(plan.steps.length).length
  const isFleet = isOfFleet(plan.steps)
  const lines = plan.steps.map((step, index) =>
    wrap(
      stepText(step, changes, numbers, paint, isFleet),
      style,
      `  ${String(index + 1).padStart(width)}. `,
      ' '.repeat(width + 4),
    ),
  )
  return [
    paint.bold('Order of steps') + paint.dim('  (projects side by side, one step at a time within each)'),
    ...lines,
  ].join('\n')
}

const stepText = (
  step: Step,
  changes: ReadonlyMap<string, Change>,
  numbers: ReadonlyMap<string, number>,
  paint: Paint,
  isFleet: boolean,
): string => {
  const waits = step.after.map((id) => numbers.get(id)).filter((number) => number !== undefined)
  const impact = isDisruptive(step.impact) ? `  ${paint.red(`! ${IMPACT_WORDS[step.impact].replace(/:.*$/, '')}`)}` : ''
  const parked = step.reason === 'PARKED' ? ', to wait there' : ''
  return [
    `${stepTitle(step, changes, isFleet)}${parked}`,
    impact,
    waits.length === 0 ? '' : paint.dim(`  after ${waits.join(', ')}`),
    step.windows === undefined || !isDisruptive(step.impact) ? '' : paint.cyan('  in its window'),
    step.refused === undefined ? '' : paint.red('  refused'),
  ].join('')
}

const capacitySection = ({ summary, estimates, steps }: Plan, style: Style, paint: Paint): string => {
  if (steps.length === 0) return ''
  const { before, after } = summary.capacity
  const row = (name: string, from: string, to: string): string =>
    `  ${pad(name, 17)}${from === to ? from : `${from} → ${to}`}`
  const range = ({ minCu, maxCu }: typeof before): string =>
    minCu === maxCu ? `${number(minCu)} CU` : `${number(minCu)}–${number(maxCu)} CU`
  const median = estimates.reduce((most, { medianMs }) => Math.max(most, medianMs), 0)
  const slow = estimates.reduce((most, { p95Ms }) => Math.max(most, p95Ms), 0)
  return [
    paint.bold('Capacity') + paint.dim('  of all computes in the project, at the upper limits'),
    row('computes', group(before.computes), group(after.computes)),
    row('size', range(before), range(after)),
    row('RAM', `${number(before.ramGb)} GB`, `${number(after.ramGb)} GB`),
    row('max_connections', group(before.maxConnections), group(after.maxConnections)),
    ...(estimates.length === 0
      ? []
      : [
          wrap(
            `${pad('time', 17)}about ${time(median)}, at most ${time(slow)} in 19 of 20 cases${paint.dim("  (from the project's own past operations)")}`,
            style,
            '  ',
            ' '.repeat(19),
          ),
        ]),
  ].join('\n')
}

const costSection = (plan: Plan, style: Style, paint: Paint): string => {
  const words = planCostWords(plan)
  if (words === undefined || plan.cost === undefined) return ''
  const money = planMoneyWords(plan.cost.total)
  return [`${paint.bold('Cost')}  ${words}`, ...(money === undefined ? [] : [`      ${money}`])]
    .map((line) => wrap(line, style, '', '      '))
    .join('\n')
}

const number = (value: number): string => String(Math.round(value * 100) / 100)

const closing = (plan: Plan, style: Style, paint: Paint, takenAt: string | undefined): string => {
  const { summary } = plan
  const counts = `${counted(summary.managed, 'compute')} managed, ${group(summary.unmanaged)} not managed`
  const seen = takenAt === undefined ? '' : paint.dim(`  seen at ${plainText(takenAt)}`)
  const told = (text: string): string => wrap(`${text}${seen}`, style, '', '')
  const missing = projectsLeftOut(plan)
  const rest = missing === undefined ? counts : `${counts}; ${missing} left out`
  if (isEmptyPlan(plan)) {
    const verdict = emptyVerdict(plan)
    return `${missing === undefined ? paint.green(verdict) : paint.bold(verdict)}\n${told(`${rest}.`)}`
  }
  const facts = `${interruptions(summary)}; ${counted(summary.calls, 'API call')}; ${rest}.`
  return `${paint.bold(planLine(summary))}\n${told(facts)}`
}
