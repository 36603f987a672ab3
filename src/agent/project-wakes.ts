/** When a project is next refreshed after a round. */
import type { ProjectFile } from './data-folder.ts'
import { jittered } from './request-share.ts'
import type { Round } from './round.ts'
import type { Shared } from './shared.ts'
import { windowWakes } from './wakes.ts'

const MINUTE = 60_000

export const wakeNextInterval = (id: string, { now, wake, random, intervalOf }: Shared): void =>
  wake(id, now() + jittered(intervalOf(id), random()), 'interval')

/** @param isDue whether runnable steps remain. */
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
