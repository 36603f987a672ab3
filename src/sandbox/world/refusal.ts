type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 422 | 423 | 429 | 500 | 501

/**
 * A request that the control plane refuses. The response body is `{request_id, code, message}`; `code` is often empty.
 */
export class Refusal extends Error {
  readonly status: RefusalStatus
  readonly code: string

  constructor(status: RefusalStatus, message: string, code = '') {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.code = code
  }
}
