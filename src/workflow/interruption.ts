/** The effects of the first and the second Ctrl-C. SIGTERM counts as Ctrl-C. */
import { abortWith, type OnSignal } from '../base/index.ts'

export interface Interruption {
  /** Aborted by the first: no new step starts. */
  readonly stop: AbortSignal
  /** Aborted by the second: everything stops immediately. */
  readonly abort: AbortSignal
  /** Restores Node's own handling. */
  release(): void
}

/**
 * @param onSignal if absent, signals are not handled here.
 * @param stopping counts as the first Ctrl-C, without a message.
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
