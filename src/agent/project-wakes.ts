/** When a project is next refreshed after a round. Times are in milliseconds since the epoch. */
import type { ProjectFile } from './data-folder.ts'
import { jittered } from './request-share.ts'
import type { Round } from './round.ts'
import type { Wake } from './scheduler.ts'
import type { Shared } from './shared.ts'

const MINUTE = 60_000
const REFRESH_AHEAD = 5 * MINUTE

/** Refreshes in the minutes before the window opens, spread by `random` (0 to 1), and again when it opens. */
export const windowWakes = (project: string, opensAt: number, now: number, random: number): readonly Wake[] => [
  ...(opensAt - REFRESH_AHEAD > now
    ? [{ project, at: opensAt - REFRESH_AHEAD * random, cause: 'interval' as const }]
    : []),
  { project, at: opensAt, cause: 'window' },
]

export const wakeNextInterval = (id: string, { now, wake, random, intervalOf }: Shared): void =>
  wake(id, now() + jittered(intervalOf(id), random()), 'interval')

/** @param isDue whether any runnable step remains. */
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
