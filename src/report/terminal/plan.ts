/** A plan on a terminal. */
import type { Change, Plan } from '../../model/index.ts'
import { counted, isUnchanged, plainValue, projectTitle, remarksOf } from '../words/index.ts'
import { compactChanges } from './plan-compact.ts'
import { costSection } from './plan-cost.ts'
import { detailedChanges } from './plan-detail.ts'
import { type PlanContext, type PlanFrame, requiredConsents } from './plan-frame.ts'
import {
  leftOutSection,
  releasedSection,
  skippedSection,
  unmanagedSection,
  warningsSection,
  wavesSection,
} from './plan-lists.ts'
import { policiesSection } from './plan-policies.ts'
import { stepsSection } from './plan-steps.ts'
import { capacitySection, closing } from './plan-summary.ts'
import { paintOf, type Style, wrap } from './style.ts'

/** With more changes, each is shown as one line by default. */
const MOST_DETAILED = 12

export const terminalPlan = (raw: Plan, style: Style, extra: PlanContext = {}): string => {
  const plan = plainValue(raw)
  const paint = paintOf(style)
  const isCompact = extra.view === undefined ? plan.changes.length > MOST_DETAILED : extra.view === 'compact'
  const frame: PlanFrame = {
    ...extra,
    plan,
    style,
    paint,
    titleOf: projectTitle(plan),
    consents: requiredConsents(plan),
    remarks: remarksOf(plan),
  }
  const show = isCompact ? compactChanges : detailedChanges
  const sections = [
    ...(extra.since === undefined ? show(plan.changes, frame) : originSections(plainValue(extra.since), frame, show)),
    stepsSection(frame, extra.steps ?? (isCompact ? false : undefined)),
    wavesSection(frame),
    skippedSection(frame),
    unmanagedSection(frame, isCompact),
    warningsSection(frame, isCompact),
    capacitySection(plan, style, paint, isCompact),
    costSection(frame),
    policiesSection(frame),
    leftOutSection(frame),
    closing(plan, style, paint, extra.takenAt),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

const originSections = (
  { ref, origin }: NonNullable<PlanContext['since']>,
  frame: PlanFrame,
  show: (changes: readonly Change[], frame: PlanFrame) => readonly string[],
): readonly string[] => {
  const { plan, style, paint } = frame
  const title = (words: string): string => wrap(paint.bold(paint.cyan(words)), style, '', '  ')
  const part = (words: string, changes: readonly Change[]): readonly string[] =>
    changes.length === 0 ? [] : [title(words), ...show(changes, frame)]
  const { introduced, drift, settled, released, gaps = [] } = origin
  return [
    ...gaps.map((gap) => wrap(`${paint.yellow('Note')} ${gap}`, style, '', '  ')),
    ...(isUnchanged(plan, origin) ? [wrap(`The manifests introduce no changes since ${ref}.`, style, '', '')] : []),
    ...part(`Introduced since ${ref}: ${counted(introduced.length, 'change')}`, introduced),
    releasedSection(released, ref, frame),
    ...part(`Existing drift: ${counted(drift.length, 'change')}`, drift),
    ...(settled.length === 0 ? [] : [`Drift that the manifests now accept: ${counted(settled.length, 'compute')}`]),
  ]
}
