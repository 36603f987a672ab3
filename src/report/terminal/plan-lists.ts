/** The lists beside the changes of a plan: what is not managed, warnings, and the projects left out. */
import type { Diagnostic, Plan, ReleasedCompute } from '../../model/index.ts'
import {
  computeTitle,
  counted,
  group,
  hasSeveralProjects,
  place,
  projectsLeftOut,
  RELEASED_HINT,
} from '../words/index.ts'
import { type Paint, type Style, wrap } from './style.ts'

/** Longer lists of computes that are left alone say nothing more. */
const MOST_SHOWN = 20

export const releasedSection = (
  released: readonly ReleasedCompute[],
  ref: string,
  isFleet: boolean,
  style: Style,
  paint: Paint,
): string => {
  if (released.length === 0) return ''
  const lines = released.slice(0, MOST_SHOWN).map(({ project, branch, compute, source }) => {
    const where = `${branch.name}${isFleet ? ` in ${project}` : ''}`
    const told = paint.dim(`  ${compute.id}  ${compute.state}  was at ${place(source)}`)
    return wrap(`${computeTitle(compute)} on ${where}${told}`, style, '    ', '      ')
  })
  const more = released.length - lines.length
  return [
    paint.bold(paint.cyan(`No longer managed since ${ref}: ${counted(released.length, 'compute')}`)),
    ...lines,
    ...(more > 0 ? [paint.dim(`    and ${group(more)} more`)] : []),
    wrap(RELEASED_HINT, style, '  ', '  '),
  ].join('\n')
}

export const unmanagedSection = (plan: Plan, style: Style, paint: Paint): string => {
  const { unmanaged } = plan
  if (unmanaged.length === 0) return ''
  const isFleet = hasSeveralProjects(plan)
  const lines = unmanaged.slice(0, MOST_SHOWN).map(({ project, branch, compute }) => {
    const where = `${branch.name}${isFleet ? ` in ${project}` : ''}`
    return wrap(
      `${computeTitle(compute)} on ${where}${paint.dim(`  ${compute.id}  ${compute.state}`)}`,
      style,
      '    ',
      '      ',
    )
  })
  const more = unmanaged.length - lines.length
  return [
    paint.bold(`Not managed (${group(unmanaged.length)})`) + paint.dim('  declared nowhere, left alone'),
    ...lines,
    ...(more > 0 ? [paint.dim(`    and ${group(more)} more`)] : []),
  ].join('\n')
}

export const warningsSection = ({ warnings }: Plan, style: Style, paint: Paint): string =>
  warnings.map((warning) => diagnosticText(warning, style, paint, '')).join('\n')

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

export const leftOutSection = (plan: Plan, style: Style, paint: Paint): string => {
  if (plan.leftOut === undefined) return ''
  return [
    paint.bold(paint.red(`Left out: ${projectsLeftOut(plan)} could not be planned`)),
    ...plan.leftOut.flatMap(({ project, diagnostics }) => [
      paint.bold(`  Project ${project}`),
      ...diagnostics.map((diagnostic) => diagnosticText(diagnostic, style, paint, '    ')),
    ]),
  ].join('\n')
}
