/** Handles the first and the second Ctrl-C. SIGTERM is treated like Ctrl-C. */
import { abortWith, type OnSignal } from '../base/index.ts'

export interface Interruption {
  /** Aborted by the first Ctrl-C. From then on, no new step starts. */
  readonly stop: AbortSignal
  /** Aborted by the second Ctrl-C, which stops everything immediately. */
  readonly abort: AbortSignal
  /** Restores Node's own handling of signals. */
  release(): void
}

/**
 * @param onSignal intercepts signals. If absent, signals are not handled here.
 * @param stopping has the same effect as the first Ctrl-C when it is aborted, but shows no message.
 */
export const onInterrupt = (
  notify: (message: string) => void,
  onSignal: OnSignal | undefined,
  stopping?: AbortSignal,
): Interruption => {
  const stop = new AbortController()
  const abort = new AbortController()
  const handle = (): void => {
    if (!stop.signal.aborted) {
      notify('Stopping: no new step starts, and running steps complete. Press Ctrl-C again to stop immediately.')
      stop.abort()
    } else if (!abort.signal.aborted) {
      notify('Stopping immediately. Run the same command again to continue.')
      abort.abort()
    }
  }
  const releases = [
    abortWith(stop, stopping),
    ...(onSignal === undefined ? [] : [onSignal('SIGINT', handle), onSignal('SIGTERM', handle)]),
  ]
  return {
    stop: stop.signal,
    abort: abort.signal,
    release: () => {
      for (const release of releases) release()
    },
  }
}
