type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 422 | 423 | 429 | 500 | 501

/** An error response of the API. Its body is `{request_id, code, message}`, where `code` is often empty. */
export class ApiError extends Error {
  readonly status: ErrorStatus
  readonly code: string

  constructor(status: ErrorStatus, message: string, code = '') {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }
}
