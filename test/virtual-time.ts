/** Time that a sandbox and its clients share: it advances when everyone waits for it, so waiting takes no real time. */
import type { Clock } from '../src/base/index.ts'
import type { SandboxClock } from '../src/sandbox/index.ts'

export interface VirtualTime {
  /** The clients' clock. */
  readonly clock: Clock
  /** Must be called on every event that is not a sleep. */
  busy(): void
  /** Advances time whenever everyone waits for it, until the work is done or `stopped` returns true. */
  during<T>(work: Promise<T>, stopped?: () => boolean): Promise<T | undefined>
}

export interface VirtualTimeOptions {
  readonly time: SandboxClock
  /** After this many turns of the event loop without an event, everyone waits for time to pass. */
  readonly idleTurns: () => number
  /** While a request is open, time advances by `strideMs` at most, so that no long sleep ends before the response. */
  readonly isRequested?: () => boolean
  /** Whether the process waits for something that takes no virtual time. */
  readonly isDiskBusy?: () => boolean
  /** In milliseconds. This is also how far time advances if no one sleeps. */
  readonly strideMs?: number
}

export const virtualTime = ({
  time,
  idleTurns,
  isRequested = () => false,
  isDiskBusy = () => false,
  strideMs = 50,
}: VirtualTimeOptions): VirtualTime => {
  /** How many sleeps end at each time. */
  const wakes = new Map<number, number>()
  let activity = 0
  const clock: Clock = {
    now: () => time.now(),
    sleep: (ms, signal) => {
      activity += 1
      const wake = time.now() + ms
      wakes.set(wake, (wakes.get(wake) ?? 0) + 1)
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => () => {
          activity += 1
          const others = (wakes.get(wake) ?? 1) - 1
          if (others === 0) wakes.delete(wake)
          else wakes.set(wake, others)
          cancel()
          signal?.removeEventListener('abort', onAbort)
          settle()
        }
        const onAbort = end(() => reject(signal?.reason))
        const cancel = time.at(wake, end(resolve))
        if (signal?.aborted === true) onAbort()
        else signal?.addEventListener('abort', onAbort)
      })
    },
  }
  const advance = (): Promise<void> => {
    const stride = wakes.size === 0 || isRequested() ? [time.now() + strideMs] : []
    return time.advance(Math.max(0, Math.min(...stride, ...wakes.keys()) - time.now()))
  }
  return {
    clock,
    busy: () => {
      activity += 1
    },
    during: async (work, stopped = () => false) => {
      let settled = false
      const done = work.finally(() => {
        settled = true
      })
      // Prevents an unhandled rejection; the error is thrown below.
      done.catch(() => undefined)
      for (let [idle, seen] = [0, activity]; !settled; ) {
        await new Promise((resolve) => setImmediate(resolve))
        if (stopped()) return undefined
        idle = seen === activity ? idle + 1 : 0
        seen = activity
        if (idle < idleTurns()) continue
        idle = 0
        if (isDiskBusy()) await new Promise((resolve) => setTimeout(resolve, 1))
        else await advance()
      }
      return done
    },
  }
}
