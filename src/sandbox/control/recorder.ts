/** The requests that were seen, as they can be sent again. */

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

export type Send = (
  method: string,
  path: string,
  body: string | undefined,
) => Promise<{ status: number; answer: unknown }>

export interface Replayed {
  readonly method: string
  readonly path: string
  /** As it was answered when it was recorded. */
  readonly recorded: number
  readonly status: number
}

/** Sends them again, in order. Ids that come out new are put in the place of the recorded ones in what follows. */
export const replay = async (requests: readonly RecordedRequest[], send: Send): Promise<readonly Replayed[]> => {
  const renamed = new Map<string, string>()
  const rename = (text: string): string => {
    let result = text
    for (const [before, after] of renamed) result = result.replaceAll(before, after)
    return result
  }
  const replayed: Replayed[] = []
  for (const { method, path, body, status, answer } of requests) {
    const sent = await send(method, rename(path), body === undefined ? undefined : rename(body))
    pairIds(answer, sent.answer, renamed)
    replayed.push({ method, path: rename(path), recorded: status, status: sent.status })
  }
  return replayed
}

/** Notes each `id` that differs at the same place of two answers. */
const pairIds = (before: unknown, after: unknown, renamed: Map<string, string>): void => {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return
  for (const [key, value] of Object.entries(before)) {
    const other: unknown = (after as Record<string, unknown>)[key]
    if (key === 'id' && typeof value === 'string' && typeof other === 'string') {
      if (value !== other) renamed.set(value, other)
    } else pairIds(value, other, renamed)
  }
}
