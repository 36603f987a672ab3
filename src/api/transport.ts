/** Sends a single request, with a limit on the size of the response and with timeouts. Does not retry. */
import { Agent, type Dispatcher, EnvHttpProxyAgent, errors } from 'undici'
import { abortWith, EspalierError, messageOf, parseJson } from '../base/index.ts'
import { ApiError } from './errors.ts'
import { type KeyFinder, keyFinder } from './key-in-answer.ts'
import type { RequestLimit } from './request-budget.ts'

interface TransportOptions {
  readonly baseUrl: URL
  /** Returns the key for the next request. */
  readonly apiKey: () => string
  readonly userAgent: string
  readonly connections: number
  readonly debug?: ((line: string) => void) | undefined
  readonly watch?: RequestWatch | undefined
  readonly dispatcher?: Requests | undefined
  /** Timeout for a complete response, in milliseconds. Default: {@link WHOLE_ANSWER_TIMEOUT_MS}. */
  readonly answerTimeoutMs?: number
}

/** Where requests are sent instead of the network: what is used of undici's dispatchers. */
export interface Requests {
  request(
    options: Dispatcher.RequestOptions,
  ): Promise<Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> & { readonly body: { text(): Promise<string> } }>
  close(): Promise<void>
}

/** Observes requests, to show their progress and problems with the service. */
export interface RequestWatch {
  /**
   * Returns a function that is called when the request ends, with a problem if a retry may help, and with the status if
   * there was a response.
   */
  begin(request: string): (problem?: string, status?: number) => void
  /** Called before each request. */
  onLimit?(limit: RequestLimit): void
}

export interface Answer {
  readonly status: number
  /** Parsed JSON; `undefined` for an empty body. */
  readonly body: unknown
  readonly retryAfter: string | undefined
  /** When the service sent the response, by its own clock. */
  readonly date: string | undefined
  /** From a header, because error pages of proxies have no JSON body. */
  readonly requestId: string | undefined
  /** Target of a redirect. */
  readonly location: string | undefined
}

const TOO_LATE = 'the response was not complete in time'
const CONNECT_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 60_000
/** Enough for about 25,000 computes. There may be several responses in memory at a time. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
/** From the first byte sent to the last byte read, so that a slow server cannot block a run forever. */
export const WHOLE_ANSWER_TIMEOUT_MS = 300_000

export class Transport {
  readonly #dispatcher: Requests
  readonly #options: TransportOptions
  #key: KeyFinder
  #keyText: string

  /** @throws {EspalierError} `E_PROXY` if the proxy in the environment is not a valid address. */
  constructor(options: TransportOptions) {
    this.#options = options
    this.#keyText = options.apiKey()
    this.#key = keyFinder(this.#keyText)
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
    this.#dispatcher =
      options.dispatcher ?? (options.baseUrl.protocol === 'https:' ? proxyDispatcher(limits) : new Agent(limits))
  }

  /**
   * Also returns responses with an error status.
   *
   * @throws {ApiError} `E_NETWORK` if there was no complete response (ambiguous: the request may have taken effect),
   *   `E_TLS` if the certificate is not trusted, `E_ANSWER` if the response is not JSON.
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
      const problem = isServiceProblem(answer.status) ? `the control API returns status ${answer.status}` : undefined
      end?.(problem, answer.status)
      return answer
    } catch (error) {
      end?.(error instanceof ApiError && error.code === 'E_NETWORK' ? describeCause(error.cause) : undefined)
      throw error
    }
  }

  async #send(method: string, path: string, body: unknown, withinMs: number, signal?: AbortSignal): Promise<Answer> {
    const { baseUrl, userAgent, debug } = this.#options
    const request = { method, path }
    const ambiguous = method !== 'GET'
    const apiKey = this.#options.apiKey()
    if (apiKey !== this.#keyText) this.#key = keyFinder(apiKey)
    this.#keyText = apiKey
    let text: string
    let status: number
    let headers: Dispatcher.ResponseData['headers']
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(TOO_LATE)), withinMs)
    const release = abortWith(late, signal)
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
        signal: late.signal,
      })
      status = response.statusCode
      headers = response.headers
      text = await response.body.text()
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason
      if (isCertificateError(cause)) {
        const words = `The control API's certificate is not trusted: ${describeCause(cause)}`
        throw new ApiError('E_TLS', words, { ...request, isFinal: true, cause })
      }
      if (cause instanceof errors.ResponseExceededMaxSizeError) {
        const words = `The control API's response cannot be read: it is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB.`
        throw new ApiError('E_ANSWER', words, { ...request, ambiguous, isFinal: true, hint: TOO_LARGE_HINT })
      }
      const isRefused = codeOf(cause) === 'ECONNREFUSED'
      const words = isRefused
        ? `The control API at ${baseUrl.href} refuses connections`
        : `The control API did not respond: ${describeCause(cause)}`
      const hint = isRefused && isLoopback(baseUrl.hostname) ? LOCAL_HINT : undefined
      throw new ApiError('E_NETWORK', words, { ...request, ambiguous, cause, hint })
    } finally {
      clearTimeout(timer)
      release()
    }
    debug?.(`${method} ${path} → ${status}`)
    const header = (name: string): string | undefined => {
      const value = firstOf(headers[name])
      return value === undefined ? undefined : this.#key.hide(value)
    }
    return {
      status,
      body: this.#read(text, status, request),
      retryAfter: header('retry-after'),
      date: header('date'),
      requestId: header('x-neon-ret-request-id'),
      location: header('location'),
    }
  }

  /**
   * Removes the key from error messages. A successful response that contains the key is rejected, so that the key is
   * never displayed.
   */
  #read(text: string, status: number, request: { readonly method: string; readonly path: string }): unknown {
    const value = parse(text, status, request)
    if (status >= 300) return stringsWithoutKey(value, this.#key)
    const place = this.#key.find(value, text)
    if (place === undefined) return value
    const words = `The control API's response contains the API key, in ${place}. Rename or remove that value.`
    throw new ApiError('E_ANSWER', words, { ...request, status, ambiguous: request.method !== 'GET' })
  }

  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close()
  }
}

/** A lock (423) is not a service problem, and is reported elsewhere. */
const isServiceProblem = (status: number): boolean => status === 429 || status >= 500

/** Only top-level strings of an error response are read. */
const stringsWithoutKey = (value: unknown, { hide }: KeyFinder): Readonly<Record<string, string>> | undefined =>
  typeof value !== 'object' || value === null
    ? undefined
    : Object.fromEntries(
        Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, hide(text)]] : [])),
      )

/** Does not show the proxy's address, which may contain a password. */
const proxyDispatcher = (options: EnvHttpProxyAgent.Options): Dispatcher => {
  try {
    return new EnvHttpProxyAgent(options)
  } catch (cause) {
    throw new EspalierError('E_PROXY', 'HTTPS_PROXY or HTTP_PROXY is not a valid proxy address.', {
      hint: 'It should look like http://proxy.example:8080.',
      cause,
    })
  }
}

/** Node's error codes for certificates. Nothing was sent in these cases. */
const CERTIFICATE = /CERT|VERIFY_LEAF_SIGNATURE/

const isCertificateError = (cause: unknown): boolean => CERTIFICATE.test(codeOf(cause) ?? '')

/** Code and message of the cause, for display. */
const describeCause = (cause: unknown): string => {
  const [code, message] = [codeOf(cause), messageOf(cause)]
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`
}

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined

const LOCAL_HINT = 'Is the sandbox running? To start one, run: espalier sandbox serve. Otherwise correct --base-url.'

/** Whether no connection was made, because nothing listens at the address. */
export const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'E_NETWORK' && codeOf(error.cause) === 'ECONNREFUSED'

const firstOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

const TOO_LARGE_HINT = 'Check that --base-url is the address of the control API.'

/** The error page of a proxy may be HTML, so only its status is used. */
const parse = (text: string, status: number, request: { method: string; path: string }): unknown => {
  if (text === '') return undefined
  const parsed = parseJson(text)
  if (parsed.ok) return parsed.value
  if (status >= 300) return undefined
  throw new ApiError('E_ANSWER', `The control API's response cannot be read: ${parsed.why}.`, {
    ...request,
    status,
    ambiguous: request.method !== 'GET',
    isFinal: parsed.isTooMuch,
    hint: parsed.isTooMuch ? TOO_LARGE_HINT : undefined,
  })
}

// Checks the base URL, the certificate settings and the key itself before the key is sent.

/** The service's API root. */
export const DEFAULT_BASE_URL = 'https://console.neon.tech/api/v2'

/** Whether a URL's host name is a loopback address. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname)

const LONGEST_URL = 2_000
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i

/**
 * Parses the API root and removes trailing slashes.
 *
 * @throws {EspalierError} `E_BASE_URL` if it is not an http(s) URL, contains a user or password, or is plain http to
 *   another machine, since the key would be sent unencrypted.
 */
export const parseBaseUrl = (text: string): URL => {
  const url = text.length <= LONGEST_URL && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new EspalierError('E_BASE_URL', 'The base URL is not an http or https URL.', {
      hint: `It should look like ${DEFAULT_BASE_URL}.`,
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw new EspalierError('E_BASE_URL', 'The base URL must not contain a user or password.', {
      hint: 'Set the key in ESPALIER_API_KEY.',
    })
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new EspalierError(
      'E_BASE_URL',
      `Plain http to ${url.hostname} is not allowed: the key would be sent unencrypted.`,
      {
        hint: 'Use https. Plain http is only allowed to this machine (127.0.0.1, localhost, ::1).',
      },
    )
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  url.search = ''
  url.hash = ''
  return url
}

/** Set on every connection, so that the environment cannot override it. */
export const VERIFIED = { rejectUnauthorized: true } as const

/** @throws {EspalierError} `E_TLS` if the environment disables certificate checks. */
export const refuseUnverified = ({ protocol }: URL, env: NodeJS.ProcessEnv = process.env): void => {
  if (protocol !== 'https:' || env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return
  throw new EspalierError('E_TLS', 'NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off.', {
    hint: 'Unset it. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS=FILE.',
  })
}

/** @throws {EspalierError} `E_KEY` if the key cannot be sent in a header. The message does not contain it. */
export const checkKey = (key: string | undefined): void => {
  if (key === undefined || key === '') {
    throw new EspalierError('E_KEY', 'The API key is missing or empty.')
  }
  if (/^[\x21-\x7e]+$/.test(key)) return
  throw new EspalierError('E_KEY', 'The API key contains a space, a line break or a non-ASCII character.', {
    hint: 'Copy it again: a key is one line of letters, digits and punctuation.',
  })
}
