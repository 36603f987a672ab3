/** Decides when a project is refreshed next after a round. Times are in milliseconds since the epoch. */
import type { ProjectFile } from './data-folder.ts'
import type { Round } from './decide/round.ts'
import type { Wake } from './scheduler.ts'
import type { Shared } from './shared.ts'
import { jittered } from './source/request-rate.ts'

const MINUTE = 60_000
const REFRESH_AHEAD = 5 * MINUTE

/**
 * Wakes for two refreshes: one in the minutes before the window opens, and one when it opens. `random`, a number from 0
 * to 1, spreads the first refreshes of different projects.
 */
export const windowWakes = (project: string, opensAt: number, now: number, random: number): readonly Wake[] => [
  ...(opensAt - REFRESH_AHEAD > now
    ? [{ project, at: opensAt - REFRESH_AHEAD * random, cause: 'interval' as const }]
    : []),
  { project, at: opensAt, cause: 'window' },
]

export const wakeNextInterval = (id: string, { now, wake, random, intervalOf }: Shared): void =>
  wake(id, now() + jittered(intervalOf(id), random()), 'interval')

/** @param isDue whether a step remains that could run now. */
export const wakeAfterRound = (
  id: string,
  shared: Shared,
  { retryAt, wait }: ProjectFile,
  { verdicts }: Round,
  isDue: boolean,
): void => {
  const { now, wake, random } = shared
  const at = now()
  wakeNextInterval(id, shared)
  if (retryAt !== undefined) wake(id, retryAt, 'backoff')
  else if (isDue) wake(id, at + MINUTE, 'backoff')
  if ([...verdicts.values()].some(({ reason }) => reason === 'DriftUnconfirmed')) wake(id, at + MINUTE, 'interval')
  if (wait === undefined) return
  if (wait.opensAt > at) for (const one of windowWakes(id, wait.opensAt, at, random())) wake(id, one.at, one.cause)
  wake(id, wait.closesAt, 'window')
}
