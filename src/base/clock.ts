/** A clock that tests can control. Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Calendar time, for times of day. May differ from `now`, which is monotonic. */
  date?(): number
  /** Resolves after `ms`. Rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
