/** Decides whether to retry a request that GitHub rejected. */
import { errors, type RetryHandler } from 'undici'

const ATTEMPTS = 4
const LONGEST_PAUSE_MS = 60_000
/** If a response for a secondary rate limit has no `Retry-After`, GitHub asks clients to wait for at least a minute. */
const UNSTATED_PAUSE_MS = 60_000
const SERVER_PAUSE_MS = 500

/** Retries after a rate limit. After a server error, retries only reads, because a write may have succeeded. */
export const retryLater: RetryHandler.RetryCallback = (error, { state, opts }, done) => {
  const isRefused = error instanceof errors.RequestRetryError && state.counter < ATTEMPTS
  const wait = isRefused ? pauseFor(opts.method, error, state.counter) : undefined
  if (wait === undefined) done(error)
  else setTimeout(done, wait, null)
}

/** Milliseconds to wait before the retry, or `undefined` if a retry would not help or is not safe. */
const pauseFor = (method: string, refusal: errors.RequestRetryError, attempt: number): number | undefined => {
  const { statusCode: status, headers } = refusal
  const after = Number(headers['retry-after'] ?? Number.NaN)
  const isLimit =
    status === 429 || (status === 403 && (!Number.isNaN(after) || headers['x-ratelimit-remaining'] === '0'))
  if (isLimit) {
    const wait = Number.isNaN(after) ? UNSTATED_PAUSE_MS : after * 1_000
    return wait <= LONGEST_PAUSE_MS ? wait : undefined
  }
  return status >= 500 && method === 'GET' ? SERVER_PAUSE_MS * 2 ** (attempt - 1) : undefined
}
