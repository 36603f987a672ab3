/** The sandbox's own time: everything in its world happens on it. Milliseconds since the epoch. */
export interface SandboxClock {
  now(): number
  /** Runs `task` once at `time`, or soon where that has passed. Returns what takes it back. */
  at(time: number, task: () => void): () => void
}

/** Node fires timers beyond this at once, so a far one is set in stretches. */
const LONGEST_MS = 2 ** 31 - 1

/** The machine's time from `start` on, run `scale` times as fast. */
export const scaledClock = (scale = 1, start = Date.now()): SandboxClock => {
  // Monotonic: a machine whose time is set back must not take the world back with it.
  const origin = performance.now()
  const now = (): number => start + (performance.now() - origin) * scale
  return {
    now,
    at: (time, task) => {
      let timer: NodeJS.Timeout | undefined
      const arm = (): void => {
        const wait = Math.max(0, (time - now()) / scale)
        timer = setTimeout(wait > LONGEST_MS ? arm : task, Math.min(wait, LONGEST_MS))
      }
      arm()
      return () => clearTimeout(timer)
    },
  }
}
