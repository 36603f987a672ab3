/** Shows a plan on a terminal. */

import { counted, plainValue } from '../../base/index.ts'
import type { Change, Plan } from '../../model/index.ts'
import { remarksOf } from '../words/cost.ts'
import { planNames } from '../words/names.ts'
import { isUnchanged } from '../words/plan-lines.ts'
import { compactChanges } from './plan-compact.ts'
import { detailedChanges } from './plan-detail.ts'
import { type PlanContext, type PlanFrame, requiredConsents } from './plan-frame.ts'
import {
  capacitySection,
  closing,
  costSection,
  leftOutSection,
  policiesSection,
  releasedSection,
  skippedSection,
  stepsSection,
  unmanagedSection,
  warningsSection,
  wavesSection,
} from './plan-sections.ts'
import { paintOf, type Style, wrap, wrapped } from './style.ts'

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

const originSections = (
  { ref, origin }: NonNullable<PlanContext['since']>,
  frame: PlanFrame,
  show: (changes: readonly Change[], frame: PlanFrame) => readonly string[],
): readonly string[] => {
  const { plan, style, paint } = frame
  const part = (title: string, changes: readonly Change[]): readonly string[] =>
    changes.length === 0
      ? []
      : [
          wrapped(paint.bold(paint.cyan(`${title}: ${counted(changes.length, 'change')}`)), style),
          ...show(changes, frame),
        ]
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
