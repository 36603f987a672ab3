/** Validates every response of every sandbox in a test against the service's own OpenAPI document. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, afterEach, expect } from 'vitest'

const CHANNEL = 'espalier:sandbox:response'

interface PublishedResponse {
  readonly method: string
  /** Below the API root, without the query. */
  readonly path: string
  readonly status: number
  /** The parsed body; `undefined` if there is none. */
  readonly body: unknown
}

const waiting: PublishedResponse[] = []
let problems = new Set<string>()
let check: ((response: PublishedResponse) => void) | undefined
let loading: Promise<void> | undefined

/** Loaded on the first response, because most tests have no sandbox. */
const load = async (): Promise<void> => {
  const { unofficial } = await import('./clients/official.ts')
  check = ({ method, path, status, body }) => {
    for (const problem of unofficial(method, path, status, body)) problems.add(problem)
  }
  waiting.splice(0).forEach(check)
}

const note = (message: unknown): void => {
  const response = message as PublishedResponse
  if (check === undefined) {
    waiting.push(response)
    loading ??= load()
  } else check(response)
}
subscribe(CHANNEL, note)

const expectOfficial = async (): Promise<void> => {
  await loading
  const found = problems
  problems = new Set()
  expect([...found], "responses that do not match the service's OpenAPI document").toEqual([])
}
afterEach(expectOfficial)
afterAll(async () => {
  // The next test file in this worker subscribes again.
  unsubscribe(CHANNEL, note)
  await expectOfficial()
})
