/** Concurrency and cancellation. */

/** Maximum number of projects that are processed concurrently, unless an option says otherwise. */
export const DEFAULT_CONCURRENCY = 16

/**
 * Maps items with at most `concurrency` at a time. Results are in the order of the items. After a failure, no further
 * items are started.
 */
export const mapConcurrently = async <T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = new Array(items.length)
  const queue = items.entries()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return
      try {
        results[index] = await work(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, items.length)) }, worker))
  return results
}

/**
 * Aborts `controller` when `signal` aborts, until the returned function is called. Does not leak, unlike
 * `AbortSignal.any`, which in Node 20 adds a reference to a long-lived signal with each call.
 */
export const abortWith = (controller: AbortController, signal: AbortSignal | undefined): (() => void) => {
  if (signal === undefined) return () => undefined
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}
