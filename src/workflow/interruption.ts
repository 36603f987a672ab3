/** Ctrl-C, once and twice; SIGTERM counts like it. */
import type { OnSignal } from '../base/index.ts'

export interface Interruption {
  /** No new step. */
  readonly stop: AbortSignal
  /** Everything at once. */
  readonly abort: AbortSignal
  /** Gives the signals back to Node. */
  release(): void
}

/** @param onSignal absent: no signal is listened to. */
export const onInterrupt = (notify: (message: string) => void, onSignal: OnSignal | undefined): Interruption => {
  const stop = new AbortController()
  const abort = new AbortController()
  const handle = (): void => {
    if (!stop.signal.aborted) {
      notify('Stopping: no new step starts, running steps are completed. Press Ctrl-C again to stop at once.')
      stop.abort()
    } else if (!abort.signal.aborted) {
      notify('Stopping at once. Run the same command again to converge.')
      abort.abort()
    }
  }
  const releases = onSignal === undefined ? [] : [onSignal('SIGINT', handle), onSignal('SIGTERM', handle)]
  return {
    stop: stop.signal,
    abort: abort.signal,
    release: () => {
      for (const release of releases) release()
    },
  }
}
