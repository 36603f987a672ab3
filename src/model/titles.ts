import { plainText } from '../base/index.ts'
import type { Change, PlannedCompute, Step } from './plan.ts'

/** `primary`, or `replica "reporting"`. */
export const computeTitle = ({ type, name }: PlannedCompute): string => {
  const role = type === 'read_write' ? 'primary' : 'replica'
  return name === undefined ? role : `${role} "${plainText(name)}"`
}

/** `update primary on main (ep-…)`, `move primary from main to restored (ep-…)`. In a fleet, with ` in PROJECT`. */
export const stepTitle = (step: Step, changes: ReadonlyMap<string, Change>, isFleet = false): string => {
  const from = step.kind === 'move' ? changes.get(step.change)?.from?.name : undefined
  const way = step.kind === 'move' ? 'to' : 'on'
  const id = step.compute.id === undefined ? '' : ` (${step.compute.id})`
  const project = isFleet ? ` in ${step.project}` : ''
  return plainText(
    `${step.kind} ${computeTitle(step.compute)}${from === undefined ? '' : ` from ${from}`} ${way} ${step.branch.name}${project}${id}`,
  )
}
