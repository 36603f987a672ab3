/** Decides whether a disruptive step has to wait for its restart window. */
import { type Clock, dateOf, defined } from '../../base/index.ts'
import { formatWindow, type Observed, type Plan, type Step, type StepOutcome } from '../../model/index.ts'
import { type Opening, openingFor } from '../../model/window-opening.ts'
import { notStarted } from '../context.ts'
import { chainTimes, Timings } from '../wait/timings.ts'

type Calendar = Pick<Clock, 'now' | 'date'>

const OPEN: Opening = { isOpen: true }

/**
 * Returns a function that checks whether a step's windows are open now. They may open or close during the run.
 *
 * @param chainMs how long a chain takes that begins with a step. It is begun only if that fits into the window.
 */
export const openingsOf = (clock: Calendar, chainMs: (step: Step) => number): ((step: Step) => Opening) => {
  const closed = new Map<string, Opening>()
  return (step) => {
    const { windows } = step
    if (windows === undefined) return OPEN
    // The time at which a closed window opens is computed only once.
    const [key, now] = [windows.map(formatWindow).join(), dateOf(clock)]
    const known = closed.get(key)
    if (known !== undefined && (known.opensAt === undefined || now < Date.parse(known.opensAt))) return known
    const opening = openingFor(windows, now, chainMs(step))
    if (!opening.isOpen && chainMs(step) === 0) closed.set(key, opening)
    return opening
  }
}

/**
 * The opening that a step has to wait for. A step without impact does not wait, because its impact is checked again
 * right before its request. A disruptive step waits even if its compute has become idle, because nobody has consented
 * to running it now.
 */
export const closedFor = (step: Step, openingOf: (step: Step) => Opening): Opening | undefined => {
  if (step.impact === 'none') return undefined
  const opening = openingOf(step)
  return opening.isOpen ? undefined : opening
}

export const scheduledStep = (step: Step, opening: Opening): StepOutcome =>
  defined({
    ...notStarted(step, 'scheduled', 'outside-window', messageOf(step, opening)),
    opensAt: opening.opensAt,
  })

const messageOf = ({ windows = [] }: Step, { opensLocally }: Opening): string => {
  const words = windows.map(formatWindow).join(' and ')
  if (opensLocally === undefined && windows.some(({ days }) => days.length === 0)) return `It waits for ${words}.`
  return opensLocally === undefined
    ? `It waits for its restart windows, ${words}, which are never open at the same time within a year, or too short for the steps.`
    : `It waits for its restart window, ${words}, which opens on ${opensLocally}.`
}

/** Whether any of the steps may run now. */
export const isAnyDue = (plan: Plan, observed: Observed, clock: Calendar, ignoreWindows: boolean): boolean => {
  const openingOf = openingsOf(clock, chainTimes(plan, new Timings(observed)))
  return plan.steps.some(
    (step) => step.refused === undefined && (ignoreWindows || closedFor(step, openingOf) === undefined),
  )
}
