import type { SandboxClock } from './clock.ts'

export interface ManualClock extends SandboxClock {
  /** Moves time on; tasks that fall due run in order of their times, those that they set included. */
  advance(ms: number): Promise<void>
}

interface Task {
  readonly time: number
  readonly run: () => void
}

/** A clock that stands still until it is told to move. Starts at `start`, milliseconds since the epoch. */
export const manualClock = (start = Date.UTC(2026, 0, 1)): ManualClock => {
  let present = start
  /** By time; of equal times the one set first comes first. */
  const tasks: Task[] = []
  return {
    now: () => present,
    at: (time, run) => {
      const task = { time, run }
      const later = tasks.findLastIndex((other) => other.time <= time) + 1
      tasks.splice(later, 0, task)
      return () => {
        const index = tasks.indexOf(task)
        if (index >= 0) tasks.splice(index, 1)
      }
    },
    advance: async (ms) => {
      const until = present + ms
      for (let task = tasks[0]; task !== undefined && task.time <= until; task = tasks[0]) {
        tasks.shift()
        present = Math.max(present, task.time)
        task.run()
      }
      present = until
    },
  }
}
