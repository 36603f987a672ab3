/** The sandbox's own time: everything in its world happens on it. Milliseconds since the epoch. */
export interface SandboxClock {
  now(): number
  /** Runs `task` once at `time`, or at once where that has passed. Returns what takes it back. */
  at(time: number, task: () => void): () => void
  /** Takes back every task that is left. */
  stop(): void
}

/** The machine's time, run `scale` times as fast from the moment it is made. */
export const scaledClock = (scale = 1): SandboxClock => {
  const origin = Date.now()
  const timers = new Set<NodeJS.Timeout>()
  const now = (): number => origin + (Date.now() - origin) * scale
  // Node fires timers beyond 2^31 - 1 ms at once, so a far one is set in stretches.
  const LONGEST_MS = 2 ** 31 - 1
  const arm = (time: number, task: () => void, handle: { timer?: NodeJS.Timeout }): void => {
    const wait = Math.max(0, (time - now()) / scale)
    const timer = setTimeout(
      () => {
        timers.delete(timer)
        if (wait > LONGEST_MS) arm(time, task, handle)
        else task()
      },
      Math.min(wait, LONGEST_MS),
    )
    handle.timer = timer
    timers.add(timer)
  }
  return {
    now,
    at: (time, task) => {
      const handle: { timer?: NodeJS.Timeout } = {}
      arm(time, task, handle)
      return () => {
        clearTimeout(handle.timer)
        if (handle.timer !== undefined) timers.delete(handle.timer)
      }
    },
    stop: () => {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
