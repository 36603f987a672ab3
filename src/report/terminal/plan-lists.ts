/** The lists after the changes: unmanaged computes, warnings, and projects left out. */
import { groupBy } from '../../base/index.ts'
import type { Diagnostic, ReleasedCompute } from '../../model/index.ts'
import {
  computeTitle,
  counted,
  group,
  hasSeveralProjects,
  place,
  projectsLeftOut,
  RELEASED_HINT,
  skippedLines,
  waveWords,
  withNamesOf,
} from '../words/index.ts'
import type { PlanFrame } from './plan-frame.ts'
import { type Paint, type Style, wrap } from './style.ts'

const MOST_SHOWN = 20

export const releasedSection = (
  released: readonly ReleasedCompute[],
  ref: string,
  { plan, titleOf, style, paint }: PlanFrame,
): string => {
  if (released.length === 0) return ''
  const isFleet = hasSeveralProjects(plan, released)
  const lines = released.slice(0, MOST_SHOWN).map(({ project, branch, compute, source }) => {
    const where = `${branch.name}${isFleet ? ` in ${titleOf(project)}` : ''}`
    const details = paint.dim(`  ${compute.id}  ${compute.state}  was at ${place(source)}`)
    return wrap(`${computeTitle(compute)} on ${where}${details}`, style, '  ', '    ')
  })
  const more = released.length - lines.length
  return [
    wrap(
      paint.bold(paint.cyan(`No longer managed since ${ref}: ${counted(released.length, 'compute')}`)),
      style,
      '',
      '  ',
    ),
    ...lines,
    ...(more > 0 ? [paint.dim(`  and ${group(more)} more`)] : []),
    wrap(RELEASED_HINT, style, '  ', '  '),
  ].join('\n')
}

/** @param isCompact only count them. */
export const unmanagedSection = ({ plan, style, paint, titleOf }: PlanFrame, isCompact: boolean): string => {
  const { unmanaged } = plan
  if (unmanaged.length === 0) return ''
  const title = `${paint.bold(`Unmanaged: ${counted(unmanaged.length, 'compute')}`)}${paint.dim(', which no manifest declares')}`
  if (isCompact) return wrap(`${title}${paint.dim('; --detail lists them')}`, style, '', '  ')
  const isFleet = hasSeveralProjects(plan)
  const lines = unmanaged.slice(0, MOST_SHOWN).map(({ project, branch, compute }) => {
    const where = `${branch.name}${isFleet ? ` in ${titleOf(project)}` : ''}`
    return wrap(
      `${computeTitle(compute)} on ${where}${paint.dim(`  ${compute.id}  ${compute.state}`)}`,
      style,
      '  ',
      '    ',
    )
  })
  const more = unmanaged.length - lines.length
  return [wrap(title, style, '', '  '), ...lines, ...(more > 0 ? [paint.dim(`  and ${group(more)} more`)] : [])].join(
    '\n',
  )
}

/** Changes that are skipped because their branch is about to expire. */
export const skippedSection = ({ plan, style, paint }: PlanFrame): string => {
  const lines = skippedLines(plan)
  if (lines.length === 0) return ''
  const shown = lines.slice(0, MOST_SHOWN).map((line) => wrap(line, style, '  ', '    '))
  const more = lines.length - shown.length
  return [
    paint.bold(`Skipped: ${counted(lines.length, 'change')}`),
    ...shown,
    ...(more > 0 ? [paint.dim(`  and ${group(more)} more`)] : []),
  ].join('\n')
}

/** Of each code; JSON has all of them. */
const MOST_ALIKE = 3

/** @param isCompact show one of each code. */
export const warningsSection = ({ plan, style, paint }: PlanFrame, isCompact: boolean): string =>
  [...groupBy(plan.warnings.map(withNamesOf(plan)), ({ code }) => code)]
    .flatMap(([code, alike]) => {
      const shown = alike.slice(0, isCompact ? 1 : MOST_ALIKE)
      const more = alike.length - shown.length
      return [
        ...shown.map((warning) => diagnosticText(warning, style, paint, '')),
        ...(more > 0 ? [paint.dim(`  and ${counted(more, 'more warning')} ${code}`)] : []),
      ]
    })
    .join('\n')

const diagnosticText = (
  { severity, code, message, hint, source }: Diagnostic,
  style: Style,
  paint: Paint,
  indent: string,
): string => {
  const word = severity === 'error' ? paint.red('Error') : paint.yellow('Warning')
  const where = source === undefined ? '' : paint.dim(`  ${place(source)}`)
  const text = `${word} ${code}: ${message}${hint === undefined ? '' : ` ${hint}`}${where}`
  return wrap(text, style, indent, `${indent}  `)
}

export const leftOutSection = ({ plan, titleOf, style, paint }: PlanFrame): string => {
  if (plan.leftOut === undefined) return ''
  return [
    paint.bold(paint.red(`Left out: ${projectsLeftOut(plan)} could not be planned`)),
    ...plan.leftOut.flatMap(({ project, diagnostics }) => [
      wrap(paint.bold(`Project ${titleOf(project)}`), style, '  ', '    '),
      ...diagnostics.map(withNamesOf(plan)).map((diagnostic) => diagnosticText(diagnostic, style, paint, '    ')),
    ]),
  ].join('\n')
}

export const wavesSection = ({ plan, style, paint }: PlanFrame): string => {
  const waves = waveWords(plan)
  if (waves.length === 0) return ''
  return [paint.bold('Waves'), ...waves.map((words, at) => wrap(`${at + 1}. ${words}`, style, '  ', '     '))].join(
    '\n',
  )
}
