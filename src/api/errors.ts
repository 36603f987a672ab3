import { EspalierError } from '../base/index.ts'

export interface ApiErrorDetails {
  readonly method: string
  readonly path: string
  readonly status?: number
  /** `code` in the body of the error response; often empty. */
  readonly apiCode?: string | undefined
  readonly requestId?: string | undefined
  /** The request may have taken effect: read the state before sending it again. */
  readonly ambiguous?: boolean
  /** A retry would only repeat the error. */
  readonly isFinal?: boolean
  /** Overrides the default hint for the status. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/** A request that the control API rejected, or that got no valid response. */
export class ApiError extends EspalierError {
  /** The message without the request and its status. */
  readonly summary: string
  readonly method: string
  readonly path: string
  readonly status: number | undefined
  readonly apiCode: string | undefined
  readonly requestId: string | undefined
  readonly ambiguous: boolean
  readonly isFinal: boolean

  constructor(code: string, message: string, details: ApiErrorDetails) {
    const hint = details.hint ?? hintOf(code, details)
    super(code, `${message} (${describe(details)})`, { hint, cause: details.cause })
    this.name = 'ApiError'
    this.summary = message
    this.method = details.method
    this.path = details.path
    this.status = details.status
    this.apiCode = details.apiCode
    this.requestId = details.requestId
    this.ambiguous = details.ambiguous ?? false
    this.isFinal = details.isFinal ?? false
  }
}

/** For data that no plan depends on. Resolves to `undefined` if the data cannot be read. */
export const optionalRead = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (error instanceof ApiError) return undefined
    throw error
  })

/** Whether the requested object does not exist. A wrong base URL does not count. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404 && error.code !== 'E_BASE_URL'

const describe = ({ method, path, status, apiCode, requestId }: ApiErrorDetails): string =>
  [
    `${method} ${path}`,
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(apiCode ? [`code ${apiCode}`] : []),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ].join(', ')

/** Default hints, by error code or HTTP status. */
const HINTS: Readonly<Record<string, string>> = {
  E_BASE_URL: 'The base URL is most likely wrong: check --base-url or ESPALIER_BASE_URL. It usually ends in /api/v2.',
  E_ANSWER:
    'Check the value in the console. If it is correct, this version of Espalier does not support it yet: please report it.',
  E_TLS: 'To trust a private certificate authority, set NODE_EXTRA_CA_CERTS=FILE.',
  E_REDIRECT: 'If you trust the address that it redirects to, set it with --base-url.',
  E_NETWORK: 'Check the network, the base URL and any proxy, then try again.',
  401: 'The key is wrong or revoked: check ESPALIER_API_KEY, NEON_API_KEY or --api-key-file.',
  403: 'The API key is not allowed to make this request. A project-scoped key can only access its own project.',
  404: 'It does not exist, or the key cannot see it: check the project id and the key.',
  409: 'The live project conflicts with this change: run `espalier plan` again to see its current state.',
  422: "The service refuses the value, perhaps because of the account's plan. Its message is above.",
}

const COMPUTE_PATH = /^\/projects\/[^/]+\/endpoints\/[^/]+$/

const hintOf = (code: string, { status, path }: ApiErrorDetails): string | undefined => {
  if (status === 404 && COMPUTE_PATH.test(path)) {
    return 'The compute, or something the change refers to, no longer exists: run `espalier plan` to see the current state.'
  }
  const internal = (status ?? 0) >= 500 ? 'The service returned an internal error: try again.' : undefined
  return HINTS[code] ?? HINTS[status ?? ''] ?? internal
}
