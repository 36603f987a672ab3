import { EspalierError } from '../model/index.ts'

export interface ApiErrorDetails {
  readonly method: string
  readonly path: string
  readonly status?: number
  /** The `code` of the error body; the service often leaves it empty. */
  readonly apiCode?: string
  readonly requestId?: string
  /** The request may or may not have taken effect: read back before sending it again. */
  readonly ambiguous?: boolean
  /** What to do next, where the status alone does not say. */
  readonly hint?: string
  readonly cause?: unknown
}

/** A request that the control API refused, or that got no usable answer. */
export class ApiError extends EspalierError {
  readonly method: string
  readonly path: string
  readonly status: number | undefined
  readonly apiCode: string | undefined
  readonly requestId: string | undefined
  readonly ambiguous: boolean

  constructor(code: string, message: string, details: ApiErrorDetails) {
    const hint = details.hint ?? hintOf(code, details)
    super(code, `${message} (${describe(details)})`, {
      ...(hint === undefined ? {} : { hint }),
      cause: details.cause,
    })
    this.name = 'ApiError'
    this.method = details.method
    this.path = details.path
    this.status = details.status
    this.apiCode = details.apiCode
    this.requestId = details.requestId
    this.ambiguous = details.ambiguous ?? false
  }
}

/** What was asked for is not there. That the address is wrong says nothing of it. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404 && error.code !== 'E_BASE_URL'

const describe = ({ method, path, status, apiCode, requestId }: ApiErrorDetails): string =>
  [
    `${method} ${path}`,
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(apiCode === undefined || apiCode === '' ? [] : [`code ${apiCode}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ].join(', ')

const HINTS: Readonly<Record<number, string>> = {
  401: 'The key is wrong or revoked: check ESPALIER_API_KEY, NEON_API_KEY or --api-key-file.',
  403: 'The key has no right to this: a project-scoped key reaches its own project only.',
  404: 'It does not exist, or the key cannot see it: check the project id and the key.',
  409: 'The live project conflicts with this change: run `espalier plan` again to see it as it is now.',
  422: "The service refuses the value, perhaps by the account's plan: its own words are above.",
}

const OF_A_COMPUTE = /^\/projects\/[^/]+\/endpoints\/[^/]+$/

const hintOf = (code: string, { status, path }: ApiErrorDetails): string | undefined => {
  if (status === 404 && OF_A_COMPUTE.test(path)) {
    return 'The compute, or something the change refers to, no longer exists: run `espalier plan` to see the project as it is now.'
  }
  if (code === 'E_BASE_URL') {
    return 'The base URL is most likely wrong: check --base-url or ESPALIER_BASE_URL. It usually ends in /api/v2.'
  }
  if (code === 'E_ANSWER') {
    return 'Check it in the console. If the value is right, this version of espalier does not support it yet: please report it.'
  }
  if (status !== undefined && HINTS[status] !== undefined) return HINTS[status]
  if (status !== undefined && status >= 500) return 'The service has an internal problem: run the same command again.'
  if (code === 'E_TLS') return 'Trust a private authority by its certificate: NODE_EXTRA_CA_CERTS=FILE.'
  if (code === 'E_REDIRECT') return 'Give the address that it redirects to as --base-url, if you trust it.'
  if (code === 'E_NETWORK') return 'Check the network, --base-url and any proxy; then run the same command again.'
  return undefined
}
