/** The requests that were seen. */

export interface RecordedRequest {
  /** Milliseconds since the epoch, of the sandbox's clock. */
  readonly at: number
  readonly method: string
  /** With its query, from the API's root on. */
  readonly path: string
  readonly body?: string
  readonly status: number
  /** Of an answer to a change: what it said. A read's answer is not kept. */
  readonly answer?: unknown
}

/** How many are remembered; older ones are forgotten. */
const REMEMBERED = 10_000

export class Recorder {
  #requests: RecordedRequest[] = []

  add(request: RecordedRequest): void {
    this.#requests.push(request)
    // In batches, so that each one costs a constant time.
    if (this.#requests.length > REMEMBERED * 1.1) this.#requests = this.#requests.slice(-REMEMBERED)
  }

  list(): readonly RecordedRequest[] {
    return this.#requests.slice(-REMEMBERED)
  }

  clear(): void {
    this.#requests = []
  }
}
