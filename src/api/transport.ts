/** One request and its answer: limits, timeouts, errors in words. Retrying is not decided here. */
import { Agent, type Dispatcher, EnvHttpProxyAgent, errors } from 'undici'
import { EspalierError, parseJson } from '../model/index.ts'
import { ApiError } from './errors.ts'
import { type KeyFinder, keyFinder } from './key-in-answer.ts'
import type { RequestLimit } from './request-budget.ts'
import { VERIFIED } from './trust.ts'

export interface TransportOptions {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly userAgent: string
  readonly connections: number
  readonly debug?: ((line: string) => void) | undefined
  readonly watch?: RequestWatch | undefined
  /** For a whole answer, in milliseconds. Default: {@link WHOLE_ANSWER_TIMEOUT_MS}. */
  readonly answerTimeoutMs?: number
}

/** Observes each request, so that a person can see that the service does not answer, or how long it will take. */
export interface RequestWatch {
  /** @returns a function to call at its end, with what is wrong if a retry may help, and the status if one came. */
  begin(request: string): (problem?: string, status?: number) => void
  /** Called before each request. */
  onLimit?(limit: RequestLimit): void
}

export interface Answer {
  readonly status: number
  /** Parsed JSON; `undefined` for an empty body. */
  readonly body: unknown
  readonly retryAfter: string | undefined
  /** From the header: an error page of a proxy has it nowhere else. */
  readonly requestId: string | undefined
  /** Where it points to, of a redirect. */
  readonly location: string | undefined
}

const TOO_LATE = 'the whole of it did not come in time'
const CONNECT_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 60_000
/** Some twenty-five thousand computes; several answers may be on their way at once. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
/** From the first byte sent to the last one read: a server that drips must not hold a run for ever. */
export const WHOLE_ANSWER_TIMEOUT_MS = 300_000

export class Transport {
  readonly #dispatcher: Dispatcher
  readonly #options: TransportOptions
  readonly #key: KeyFinder

  /** @throws {EspalierError} `E_PROXY` if the environment names a proxy that is none. */
  constructor(options: TransportOptions) {
    this.#options = options
    this.#key = keyFinder(options.apiKey)
    const connect = { timeout: CONNECT_TIMEOUT_MS, ...VERIFIED }
    const limits = {
      connections: options.connections,
      connect,
      requestTls: connect,
      proxyTls: connect,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      maxResponseSize: MAX_ANSWER_BYTES,
    }
    this.#dispatcher = options.baseUrl.protocol === 'https:' ? throughProxy(limits) : new Agent(limits)
  }

  /**
   * @throws {ApiError} `E_NETWORK` if no whole answer came (ambiguous: it may have taken effect), `E_TLS` if the
   * certificate is not trusted, `E_ANSWER` if the answer is not JSON. An answer with an error status is returned, not thrown.
   */
  async send(
    method: string,
    path: string,
    body: unknown,
    signal?: AbortSignal,
    withinMs = this.#options.answerTimeoutMs ?? WHOLE_ANSWER_TIMEOUT_MS,
  ): Promise<Answer> {
    const end = this.#options.watch?.begin(`${method} ${path.replace(/\?.*$/s, '')}`)
    try {
      const answer = await this.#send(method, path, body, withinMs, signal)
      const problem = isTrouble(answer.status) ? `the control API answers with status ${answer.status}` : undefined
      end?.(problem, answer.status)
      return answer
    } catch (error) {
      end?.(error instanceof ApiError && error.code === 'E_NETWORK' ? wordsOf(error.cause) : undefined)
      throw error
    }
  }

  async #send(method: string, path: string, body: unknown, withinMs: number, signal?: AbortSignal): Promise<Answer> {
    const { baseUrl, apiKey, userAgent, debug } = this.#options
    let text: string
    let status: number
    let headers: Dispatcher.ResponseData['headers']
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(TOO_LATE)), withinMs)
    try {
      const response = await this.#dispatcher.request({
        origin: baseUrl.origin,
        path: `${baseUrl.pathname === '/' ? '' : baseUrl.pathname}${path}`,
        method: method as Dispatcher.HttpMethod,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${apiKey}`,
          'user-agent': userAgent,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      })
      status = response.statusCode
      headers = response.headers
      text = await response.body.text()
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason
      if (isUntrusted(cause)) {
        throw new ApiError('E_TLS', `The control API is not trusted: ${wordsOf(cause)}`, { method, path, cause })
      }
      if (cause instanceof errors.ResponseExceededMaxSizeError) {
        const words = `The control API's answer cannot be read: it has more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB.`
        throw new ApiError('E_ANSWER_SIZE', words, { method, path, ambiguous: method !== 'GET' })
      }
      throw new ApiError('E_NETWORK', `The control API gave no answer: ${wordsOf(cause)}`, {
        method,
        path,
        ambiguous: method !== 'GET',
        cause,
      })
    } finally {
      clearTimeout(timer)
    }
    debug?.(`${method} ${path} → ${status}`)
    const header = (name: string): string | undefined => {
      const value = single(headers[name])
      return value === undefined ? undefined : this.#key.hide(value)
    }
    return {
      status,
      body: this.#read(text, status, { method, path }),
      retryAfter: header('retry-after'),
      requestId: header('x-neon-ret-request-id'),
      location: header('location'),
    }
  }

  /** Of a refusal, its words without the key. An answer that holds it is not used: what is shown or sent on might. */
  #read(text: string, status: number, request: { readonly method: string; readonly path: string }): unknown {
    const value = parse(text, status, request)
    if (status >= 300) return wordsIn(value, this.#key)
    const place = this.#key.find(value, text)
    if (place === undefined) return value
    throw new ApiError(
      'E_ANSWER',
      `The control API's answer holds the API key itself, in ${place}: rename or remove that.`,
      {
        ...request,
        status,
        ambiguous: request.method !== 'GET',
      },
    )
  }

  close(): Promise<void> {
    return this.#dispatcher.close()
  }
}

/** A lock (423) is not a problem of the service, and is reported where it is waited for. */
const isTrouble = (status: number): boolean => status === 429 || status >= 500

/** A refusal has texts at its top, and nothing else of it is read. */
const wordsIn = (value: unknown, { hide }: KeyFinder): Readonly<Record<string, string>> | undefined =>
  typeof value !== 'object' || value === null
    ? undefined
    : Object.fromEntries(
        Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, hide(text)]] : [])),
      )

/** Neither the proxy's address, which may hold a password, nor what was wrong with it is said. */
const throughProxy = (options: EnvHttpProxyAgent.Options): Dispatcher => {
  try {
    return new EnvHttpProxyAgent(options)
  } catch (cause) {
    throw new EspalierError('E_PROXY', 'HTTPS_PROXY or HTTP_PROXY is not the address of a proxy.', {
      hint: 'It should look like http://proxy.example:8080.',
      cause,
    })
  }
}

/** The names that Node gives to what is wrong with a certificate; nothing was sent. */
const CERTIFICATE = /CERT|VERIFY_LEAF_SIGNATURE/

const isUntrusted = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && CERTIFICATE.test(cause.code)

/** A person reads this: the innermost cause's code and message, never a stack. */
const wordsOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : ''
  return `${code}${cause.message === '' ? cause.name : cause.message}`
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

/** An error page of a proxy in between is HTML: its status is all that counts. */
const parse = (text: string, status: number, request: { method: string; path: string }): unknown => {
  if (text === '') return undefined
  const parsed = parseJson(text)
  if (parsed.ok) return parsed.value
  if (status >= 300) return undefined
  throw new ApiError(
    parsed.isTooMuch ? 'E_ANSWER_SIZE' : 'E_ANSWER',
    `The control API's answer cannot be read: ${parsed.why}.`,
    {
      ...request,
      status,
      ambiguous: request.method !== 'GET',
    },
  )
}
