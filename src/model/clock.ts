/** Time as an argument, so that tests own it. Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** The calendar time, for times of day. May differ from `now`, which is monotonic. */
  date?(): number
  /** Resolves after `ms`, or rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
