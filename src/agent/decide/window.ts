/** Determines the window that a project's steps wait for or run in, and whether it was missed. Has no side effects. */
import type { MissCause, Step } from '../../model/index.ts'
import { closingOf, openingOf } from '../../model/window-opening.ts'
import type { ProjectFile } from '../data-folder.ts'
import type { Round } from './round.ts'

type Wait = NonNullable<ProjectFile['wait']>

interface Times {
  readonly now: number
  readonly runningSince: number
  readonly isSuspended: boolean
}

/**
 * The window that the steps wait for or run in, and the window that they missed, if any.
 *
 * @param round the round as it would be if the project were not suspended.
 * @param known the window that they waited for before.
 */
export const afterWindows = (
  round: Round,
  known: Wait | undefined,
  times: Times,
): Pick<ProjectFile, 'wait' | 'missed'> => {
  const steps = windowedSteps(round)
  const missed = missedWindow(known, steps.length > 0, times)
  return { wait: waitOf(steps, missed === undefined ? known : undefined, times.now), missed }
}

/**
 * The steps that run in a window, now or later. They include steps that were tried too often, because these may run in
 * the next window.
 */
const windowedSteps = ({ plan, steps, exhausted }: Pick<Round, 'plan' | 'steps' | 'exhausted'>): readonly Step[] =>
  [...plan.steps.filter(({ id }) => steps.get(id)?.action !== 'skip'), ...exhausted].filter(
    ({ impact, windows = [] }) => impact !== 'none' && windows.length > 0,
  )

/** The window of these steps that is open or opens next. The same window is returned until it has closed. */
const waitOf = (steps: readonly Step[], known: Wait | undefined, now: number): Wait | undefined => {
  const openings = steps.flatMap(({ windows = [] }): readonly Wait[] => {
    const { isOpen, opensAt } = openingOf(windows, now)
    if (!isOpen && opensAt === undefined) return []
    const opens = isOpen ? now : Date.parse(opensAt ?? '')
    return [{ opensAt: opens, closesAt: closingOf(windows, opens), failed: false }]
  })
  const next = openings.sort((a, b) => a.opensAt - b.opensAt)[0]
  const isSame =
    known !== undefined && next !== undefined && known.opensAt <= next.opensAt && next.opensAt < known.closesAt
  return isSame ? { ...known, closesAt: next.opensAt <= now ? next.closesAt : known.closesAt } : next
}

/**
 * The window that closed before its work was done, and the cause. `undefined` if the window is still open or the work
 * is done.
 */
export const missedWindow = (known: Wait | undefined, isWorkLeft: boolean, agent: Times): ProjectFile['missed'] => {
  if (known === undefined || !isWorkLeft || agent.now < known.closesAt) return undefined
  return {
    opensAt: new Date(known.opensAt).toISOString(),
    closesAt: new Date(known.closesAt).toISOString(),
    cause: causeOf(known, agent),
  }
}

const causeOf = ({ opensAt, closesAt, failed }: Wait, { runningSince, isSuspended }: Times): MissCause => {
  if (isSuspended) return 'suspended'
  if (runningSince >= closesAt) return 'agent-down'
  if (failed) return 'failed'
  return runningSince > opensAt ? 'agent-down' : 'too-little-time'
}
