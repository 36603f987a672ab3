/** A request that the control plane refuses; the body is `{request_id, code, message}`. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, message: string, code = '') {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.code = code
  }
}
