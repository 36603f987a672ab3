/** Ctrl-C, once and twice; SIGTERM counts like it. */

export interface Interruption {
  /** No new step. */
  readonly stop: AbortSignal
  /** Everything at once. */
  readonly abort: AbortSignal
  /** Gives the signals back to Node. */
  release(): void
}

export const onInterrupt = (tell: (message: string) => void): Interruption => {
  const stop = new AbortController()
  const abort = new AbortController()
  const handle = (): void => {
    if (!stop.signal.aborted) {
      tell('Stopping: no new step starts, running steps are completed. Press Ctrl-C again to stop at once.')
      stop.abort()
    } else if (!abort.signal.aborted) {
      tell('Stopping at once. Run the same command again to converge.')
      abort.abort()
    }
  }
  process.on('SIGINT', handle)
  process.on('SIGTERM', handle)
  return {
    stop: stop.signal,
    abort: abort.signal,
    release: () => {
      process.off('SIGINT', handle)
      process.off('SIGTERM', handle)
    },
  }
}
