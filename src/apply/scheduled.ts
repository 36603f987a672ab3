/** Steps that interrupt wait for their restart windows. */
import { type Clock, formatWindow, type Plan, type Step, type StepOutcome } from '../model/index.ts'
import { type Opening, openingOf } from '../windows/index.ts'

export const OPEN: Opening = { isOpen: true }

/** Asked when a step's turn comes: a window may open or close while others run. */
export const openingsOf =
  (clock: Clock): ((step: Step) => Opening) =>
  ({ windows = [] }) =>
    windows.length === 0 ? OPEN : openingOf(windows, clock.now())

export const scheduledStep = (step: Step, opening: Opening): StepOutcome => ({
  step: step.id,
  status: 'scheduled',
  reason: 'outside-window',
  message: messageOf(step, opening),
  operations: [],
  ...(opening.opensAt === undefined ? {} : { opensAt: opening.opensAt }),
  durationMs: 0,
})

const messageOf = ({ windows = [] }: Step, { opensLocally }: Opening): string => {
  const words = windows.map(formatWindow).join(' and ')
  return opensLocally === undefined
    ? `It waits for its restart windows, ${words}, which are never open at once.`
    : `It waits for its restart window, ${words}, which opens on ${opensLocally}.`
}

/** Whether any step would run now, as far as windows go. */
export const isAnyDue = ({ steps }: Plan, clock: Clock): boolean => {
  const openings = openingsOf(clock)
  return steps.some((step) => openings(step).isOpen)
}
