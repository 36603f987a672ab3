import type { SandboxClock } from './clock.ts'

export interface ManualClock extends SandboxClock {
  /** Moves time on; tasks that fall due run in order of their times, those that they set included. */
  advance(ms: number): void
}

interface Task {
  readonly time: number
  readonly order: number
  readonly run: () => void
}

/** A clock that stands still until it is told to move. */
export const manualClock = (start = Date.UTC(2026, 0, 1)): ManualClock => {
  let present = start
  let order = 0
  const tasks = new Set<Task>()
  const due = (until: number): Task | undefined => {
    let first: Task | undefined
    for (const task of tasks) {
      if (task.time > until) continue
      if (first === undefined || task.time < first.time || (task.time === first.time && task.order < first.order)) {
        first = task
      }
    }
    return first
  }
  return {
    now: () => present,
    at: (time, run) => {
      order += 1
      const task = { time, order, run }
      tasks.add(task)
      return () => tasks.delete(task)
    },
    stop: () => tasks.clear(),
    advance: (ms) => {
      const until = present + ms
      for (let task = due(until); task !== undefined; task = due(until)) {
        tasks.delete(task)
        present = Math.max(present, task.time)
        task.run()
      }
      present = until
    },
  }
}
