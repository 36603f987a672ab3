export interface RecordedRequest {
  /** Milliseconds since the epoch, by the sandbox's clock. */
  readonly at: number
  readonly method: string
  /** Below the API root, with the query. */
  readonly path: string
  readonly body?: string
  readonly status: number
  /** The parsed response to a change. Responses to reads are not recorded. */
  readonly answer?: unknown
}

/** Older requests are dropped. */
const REMEMBERED = 10_000

export class Recorder {
  #requests: RecordedRequest[] = []

  add(request: RecordedRequest): void {
    this.#requests.push(request)
    // Dropped in batches, so that the cost per request stays constant.
    if (this.#requests.length > REMEMBERED * 1.1) this.#requests = this.#requests.slice(-REMEMBERED)
  }

  list(): readonly RecordedRequest[] {
    return this.#requests.slice(-REMEMBERED)
  }

  clear(): void {
    this.#requests = []
  }
}
