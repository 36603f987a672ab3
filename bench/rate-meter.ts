/** Counts the requests in the busiest second and the busiest minute. */
export interface RateMeter {
  readonly total: number
  readonly most: { readonly second: number; readonly minute: number }
  /** Call once per request. */
  count(): void
}

/** @param now returns a monotonic time in milliseconds. */
export const rateMeter = (now: () => number): RateMeter => {
  const windows = { second: { ms: 1_000, sent: [] as number[] }, minute: { ms: 60_000, sent: [] as number[] } }
  const most = { second: 0, minute: 0 }
  let total = 0
  return {
    get total() {
      return total
    },
    most,
    count: () => {
      total += 1
      const time = now()
      for (const name of ['second', 'minute'] as const) {
        const { ms, sent } = windows[name]
        sent.push(time)
        while ((sent[0] ?? time) <= time - ms) sent.shift()
        most[name] = Math.max(most[name], sent.length)
      }
    },
  }
}
