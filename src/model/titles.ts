import { plainText } from '../base/index.ts'
import type { Change, PlannedCompute, Step } from './plan.ts'

/** `primary`, or `replica "reporting"`. */
export const computeTitle = ({
  type,
  name,
}: Pick<PlannedCompute, 'type'> & { readonly name?: string | undefined }): string => {
  const role = type === 'read_write' ? 'primary' : 'replica'
  return name === undefined ? role : `${role} "${plainText(name)}"`
}

/** `update primary on main (ep-…)`, `move primary from main to restored (ep-…)`. In a fleet, with ` in PROJECT`. */
export const stepTitle = (step: Step, changes: ReadonlyMap<string, Change>, isFleet = false): string =>
  titleOf(step, step.kind === 'move' ? changes.get(step.change)?.from?.name : undefined, isFleet)

/** As {@link stepTitle}. */
export const changeTitle = (change: Change): string =>
  titleOf(change, change.kind === 'move' ? change.from?.name : undefined, false)

const titleOf = (
  { kind, compute, branch, project }: Change | Step,
  from: string | undefined,
  isFleet: boolean,
): string => {
  const origin = from === undefined ? '' : ` from ${from}`
  const way = kind === 'move' ? 'to' : 'on'
  const id = compute.id === undefined ? '' : ` (${compute.id})`
  return plainText(
    `${kind} ${computeTitle(compute)}${origin} ${way} ${branch.name}${isFleet ? ` in ${project}` : ''}${id}`,
  )
}
