/** Sends a request until there is a final response. Waits for locks and rate limits, and retries only safe requests. */
import { setMaxListeners } from 'node:events'
import type { z } from 'zod'
import { abortWith, type Clock, dateOf } from '../base/index.ts'
import { formatDuration, projectOf } from '../model/index.ts'
import { ApiError } from './errors.ts'
import type { RequestBudget } from './request-budget.ts'
import { type Answer, isRefused, type Transport, WHOLE_ANSWER_TIMEOUT_MS } from './transport.ts'
import { oddValue } from './wire.ts'

/** A pause before the next attempt. */
export interface Wait {
  readonly why: 'locked' | 'rate-limited' | 'unavailable'
  readonly message: string
  readonly delayMs: number
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether to make only one attempt. Used for data that no plan depends on. */
  readonly once?: boolean
  /** Called before each wait. */
  readonly onWait?: ((wait: Wait) => void | Promise<void>) | undefined
  /** Describes the operation that holds the lock, for messages about a 423. */
  readonly lockHolder?: (() => Promise<string | undefined>) | undefined
}

/** Decided right before an attempt: the body to send, or a result that replaces the request. */
export type Turn<Body, Instead> = { readonly send: Body } | { readonly instead: Instead }

export type BeforeAttempt<Body, Instead> = () => Promise<Turn<Body, Instead>>

/** A request, for messages. */
interface Asked {
  readonly method: string
  readonly path: string
}

interface Request<T, Instead> extends Asked {
  readonly schema: z.ZodType<T>
  /** Absent for a read. */
  readonly before?: BeforeAttempt<unknown, Instead>
  readonly options: CallOptions
}

export interface RequesterOptions {
  /** The API root, for messages. */
  readonly baseUrl: URL
  readonly clock: Clock
  readonly random: () => number
  readonly budget: RequestBudget | undefined
  /** How long to wait while a project is locked (423), in milliseconds. */
  readonly lockTimeoutMs: number
}

const BUSY: Readonly<Record<number, Wait['why']>> = { 423: 'locked', 429: 'rate-limited', 503: 'unavailable' }
const BUSY_TIMEOUT_MS = 120_000
const FIRST_DELAY_MS = 500
/** `Retry-After: 0` must not lead to a busy loop. */
const SHORTEST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000
/** As long as the service has never responded, a refused connection more likely means that the address is wrong. */
const FIRST_REPEATS = 2
/** A GET changes nothing, so it is retried after connection errors and 5xx. */
const GET_REPEATS = 4

export class Requester {
  readonly #transport: Transport
  readonly #options: RequesterOptions
  #hasResponded = false
  /** How far the service's clock is ahead of ours, in milliseconds. */
  #aheadMs = 0
  #firstRepeats = FIRST_REPEATS
  /** Ends all waits. */
  #stop = forAllRequests()

  constructor(transport: Transport, options: RequesterOptions) {
    this.#transport = transport
    this.#options = options
  }

  /** @throws {ApiError} unless the response is a success with the expected content. */
  read<T>(path: string, schema: z.ZodType<T>, options: CallOptions = {}): Promise<T> {
    return this.#settle<T, never>({ method: 'GET', path, schema, options })
  }

  /**
   * @param before called once for every attempt, right before it is sent. Its own requests count towards the rate limit.
   * @throws {ApiError} unless the response is a success with the expected content.
   */
  write<T, Instead>(
    { method, path }: Asked,
    schema: z.ZodType<T>,
    before: BeforeAttempt<unknown, Instead>,
    options: CallOptions,
  ): Promise<T | Instead> {
    return this.#settle({ method, path, schema, before, options })
  }

  /** By the `Date` of the last response, or by our clock if there is none. Milliseconds since the epoch. */
  serviceTime(): number {
    return this.#today() + this.#aheadMs
  }

  #today(): number {
    const { clock } = this.#options
    return dateOf(clock)
  }

  /** Ends all waits, so that requests that nobody needs any more do not keep the process alive. */
  close(): void {
    this.#stop.abort()
  }

  async #settle<T, Instead>(request: Request<T, Instead>): Promise<T | Instead> {
    this.#stop.signal.throwIfAborted()
    const waits = new AbortController()
    const releases = [request.options.signal, this.#stop.signal].map((signal) => abortWith(waits, signal))
    try {
      return await this.#attempts(request, waits.signal)
    } finally {
      for (const release of releases) release()
    }
  }

  /** @param waits aborts the waits between attempts, but not a request that was sent. */
  async #attempts<T, Instead>(request: Request<T, Instead>, waits: AbortSignal): Promise<T | Instead> {
    const { method, schema, options } = request
    const { clock, lockTimeoutMs } = this.#options
    const since = new Map<Wait['why'], number>()
    let repeats = 0
    // One timeout for all attempts together, so that a slow server cannot use up the whole timeout in each.
    let leftMs = WHOLE_ANSWER_TIMEOUT_MS
    for (let attempt = 1; ; attempt += 1) {
      const turn = await this.#turn(request, waits)
      if ('instead' in turn) return turn.instead
      const sentAt = clock.now()
      const mostRepeats = method !== 'GET' || options.once === true ? 0 : GET_REPEATS
      const answer = await this.#send(request, turn.send, mostRepeats - repeats, leftMs)
      leftMs -= clock.now() - sentAt
      if (answer === undefined) {
        repeats += 1
        await clock.sleep(this.#backoff(attempt), waits)
        continue
      }
      if (answer.status < 300) return parse(request, schema, answer)
      if (answer.status < 400) throw redirected(request, answer)
      const { baseUrl } = this.#options
      if (isWrongAddress(method, answer, baseUrl)) throw unknownRoute(request, answer, baseUrl)
      const why = BUSY[answer.status]
      if (why === undefined || options.once === true) throw refusal(request, answer)
      const asked = retryAfterMs(answer, this.serviceTime()) ?? this.#backoff(attempt)
      const delayMs = Math.max(SHORTEST_DELAY_MS, asked)
      const limit = why === 'locked' ? lockTimeoutMs : BUSY_TIMEOUT_MS
      const started = since.get(why) ?? clock.now()
      since.set(why, started)
      const waitedMs = clock.now() - started
      if (waitedMs + delayMs > limit) throw refusal(request, answer, { why, waitedMs, delayMs, limitMs: limit })
      await options.onWait?.({ why, message: await describeWait(why, answer, options), delayMs })
      await clock.sleep(delayMs, waits)
    }
  }

  /** Waits for the rate limit first, so that the request is sent as soon as `before` has read the state. */
  async #turn<T, Instead>({ path, before }: Request<T, Instead>, signal: AbortSignal): Promise<Turn<unknown, Instead>> {
    const { budget } = this.#options
    if (before === undefined) {
      await budget?.take(path, signal)
      return { send: undefined }
    }
    const release = await budget?.hold(path, signal)
    let isSent = false
    try {
      const turn = await before()
      isSent = 'send' in turn
      return turn
    } finally {
      release?.(isSent)
    }
  }

  /** Returns `undefined` if the request should be repeated: there was no response, or a server error. */
  async #send<T, Instead>(
    { method, path, options: { signal } }: Request<T, Instead>,
    body: unknown,
    repeatsLeft: number,
    leftMs: number,
  ): Promise<Answer | undefined> {
    const { clock } = this.#options
    const sentAt = clock.now()
    try {
      const answer = await this.#transport.send(method, path, body, signal, leftMs)
      this.#hasResponded = true
      this.#aheadMs = Date.parse(answer.date ?? '') - this.#today() || 0
      return repeatsLeft > 0 && answer.status >= 500 && BUSY[answer.status] === undefined ? undefined : answer
    } catch (error) {
      const canHelp = error instanceof ApiError && !error.isFinal && clock.now() - sentAt < leftMs
      if (repeatsLeft === 0 || !canHelp) throw error
      if (!isRefused(error) || this.#hasResponded || repeatsLeft > GET_REPEATS - this.#firstRepeats) return undefined
      this.#giveUp(error)
      throw error
    }
  }

  /** Ends the waits of all requests with this error. Until there is a response, later ones are not retried either. */
  #giveUp(error: ApiError): void {
    this.#firstRepeats = 0
    if (this.#stop.signal.aborted) return
    this.#stop.abort(error)
    this.#stop = forAllRequests()
  }

  /** Exponential backoff. The jitter keeps clients from colliding. */
  #backoff(attempt: number): number {
    const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
    return Math.round(ceiling / 4 + this.#options.random() * ((ceiling * 3) / 4))
  }
}

/** Node warns of more than ten listeners. */
const forAllRequests = (): AbortController => {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  return stop
}

const parse = <T>({ method, path }: Asked, schema: z.ZodType<T>, answer: Answer): T => {
  const parsed = schema.safeParse(answer.body ?? {})
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const why = issue === undefined ? 'it cannot be parsed' : oddValue(answer.body, issue)
  const project = projectOf(path)
  const where = project === undefined ? '' : ` for project ${project}`
  const words = `The control API returned an undocumented response${where}: ${why}`
  throw new ApiError('E_ANSWER', words, { method, path, status: answer.status, ambiguous: method !== 'GET' })
}

const describeWait = async (why: Wait['why'], answer: Answer, options: CallOptions): Promise<string> => {
  if (why === 'rate-limited') return "the control API's rate limit is reached"
  if (why === 'unavailable') return 'the control API is unavailable'
  const unnamed = messageOf(answer)
  try {
    const holder = await options.lockHolder?.()
    return holder === undefined
      ? `the project is locked, but the API lists no running operation: ${unnamed}`
      : `the project is locked by ${holder}`
  } catch {
    return `the project is locked: ${unnamed}`
  }
}

/** The error for a wait that would exceed its limit. */
interface GiveUp {
  readonly why: Wait['why']
  readonly waitedMs: number
  readonly delayMs: number
  readonly limitMs: number
}

const LIMIT_NAMES: Readonly<Record<Wait['why'], string>> = {
  locked: 'limit of --timeout',
  'rate-limited': 'limit for rate limiting',
  unavailable: 'limit for outages',
}

const LONGEST_NAMED_MS = 24 * 3_600_000

/** States how long the wait took, because with a long `Retry-After` it ends before the limit. */
const describeGiveUp = ({ why, waitedMs, delayMs, limitMs }: GiveUp): string => {
  const [waited, limit] = [waitedMs, limitMs].map((ms) => formatDuration(ms / 1_000))
  const delay = delayMs > LONGEST_NAMED_MS ? 'for more than a day' : `another ${formatDuration(delayMs / 1_000)}`
  return `Gave up after ${waited}: waiting ${delay} would exceed the ${limit} ${LIMIT_NAMES[why]}. Try again later.`
}

const refusal = ({ method, path }: Asked, answer: Answer, gaveUp?: GiveUp): ApiError => {
  const isKey = answer.status === 401
  const what = isKey ? 'does not accept the API key' : answer.status < 500 ? 'rejected the request' : 'failed'
  return new ApiError(isKey ? 'E_KEY' : 'E_API', `The control API ${what}: ${messageOf(answer)}`, {
    method,
    path,
    status: answer.status,
    ambiguous: method !== 'GET' && answer.status >= 500 && answer.status !== 503,
    hint: gaveUp && describeGiveUp(gaveUp),
    apiCode: fieldOf(answer.body, 'code'),
    requestId: fieldOf(answer.body, 'request_id') ?? answer.requestId,
  })
}

/** Whether a 404 or 400 means that the base URL is wrong, rather than that an object does not exist. */
const isWrongAddress = (method: string, answer: Answer, { pathname }: URL): boolean =>
  (answer.status === 404 || answer.status === 400) &&
  method === 'GET' &&
  (!/\/v\d+$/.test(pathname) || /\broute\b/i.test(messageOf(answer)))

const unknownRoute = ({ method, path }: Asked, answer: Answer, { origin, pathname }: URL): ApiError => {
  const words = `The control API at ${origin}${pathname} responded: ${messageOf(answer)}`
  return new ApiError('E_BASE_URL', words, { method, path, status: answer.status })
}

/** Redirects are not followed, because the key must only be sent to the configured host. */
const redirected = ({ method, path }: Asked, { status, location }: Answer): ApiError => {
  const to = location !== undefined && URL.canParse(location) ? new URL(location).host : 'another address'
  const words = `The control API redirects to ${to}, and the key is not sent there.`
  return new ApiError('E_REDIRECT', words, { method, path, status })
}

/** On a single line, so that the service's message cannot look like our output. */
const messageOf = (answer: Answer): string => fieldOf(answer.body, 'message')?.replace(/\s+/g, ' ') ?? 'no reason given'

const fieldOf = (body: unknown, name: string): string | undefined => {
  if (typeof body !== 'object' || body === null) return undefined
  const value = (body as Record<string, unknown>)[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Seconds or an HTTP date (RFC 9110, 10.2.3).
 *
 * @param now the service's time, because the clock of this machine may differ.
 */
const retryAfterMs = ({ retryAfter }: Answer, now: number): number | undefined => {
  if (retryAfter === undefined) return undefined
  if (/^\d+$/.test(retryAfter.trim())) return Number(retryAfter) * 1_000
  const until = Date.parse(retryAfter)
  return Number.isNaN(until) ? undefined : Math.max(0, until - now)
}
