/** Time as an argument, so that tests own it. Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** What a calendar shows, where that may differ from `now`, which only ever goes on: for times of day. */
  date?(): number
  /** Resolves after `ms`, or rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
