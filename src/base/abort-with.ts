/**
 * Aborts `controller` with `signal`, until the returned function is called. Unlike `AbortSignal.any`, which in Node 20
 * leaves a reference in a long-lived signal with each call, it leaves nothing behind.
 */
export const abortWith = (controller: AbortController, signal: AbortSignal | undefined): (() => void) => {
  if (signal === undefined) return () => undefined
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}
