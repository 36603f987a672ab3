/** Steps that interrupt wait for their restart windows. */
import type { ReadApi } from '../api/index.ts'
import {
  type Clock,
  formatWindow,
  isIdle,
  type Plan,
  type RestartWindow,
  type Step,
  type StepOutcome,
} from '../model/index.ts'
import { type Opening, openingOf } from '../windows/index.ts'

export const OPEN: Opening = { isOpen: true }

/**
 * Asked when a step's turn comes: a window may open or close while others run. A step that would only interrupt an active
 * compute need not wait where that is idle.
 */
export const openingsOf = (api: Pick<ReadApi, 'getCompute'>, clock: Clock) => {
  const closed = new Map<string, Opening>()
  /** Of a closed window the calendar is asked once, until it opens. */
  const lookUp = (windows: readonly RestartWindow[]): Opening => {
    const [key, now] = [windows.map(formatWindow).join(), clock.date?.() ?? clock.now()]
    const known = closed.get(key)
    if (known !== undefined && (known.opensAt === undefined || now < Date.parse(known.opensAt))) return known
    const opening = openingOf(windows, now)
    if (!opening.isOpen) closed.set(key, opening)
    return opening
  }
  return async (step: Step, goesOn: boolean): Promise<Opening> => {
    if (goesOn || step.windows === undefined) return OPEN
    const opening = lookUp(step.windows)
    if (opening.isOpen || step.impact !== 'none' || step.compute.id === undefined) return opening
    // A compute that cannot be read is one that the step itself will tell about.
    const isFree = await api.getCompute(step.project, step.compute.id).then(
      (compute) => compute === undefined || isIdle(compute),
      () => true,
    )
    return isFree ? OPEN : opening
  }
}

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
    ? `It waits for its restart windows, ${words}, which are not open at once within a year.`
    : `It waits for its restart window, ${words}, which opens on ${opensLocally}.`
}

/** Whether any step may run at `at` (milliseconds since the epoch), as far as windows go. */
export const isAnyDue = ({ steps }: Plan, at: number): boolean =>
  steps.some(({ windows, impact }) => windows === undefined || impact === 'none' || openingOf(windows, at).isOpen)
