/** Validates every response of every sandbox in a test against the service's own OpenAPI document. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, afterEach, expect } from 'vitest'
import { ANSWERS, type PublishedAnswer } from '../src/sandbox/routes/publish-answers.ts'

const waiting: PublishedAnswer[] = []
let problems = new Set<string>()
let check: ((answer: PublishedAnswer) => void) | undefined
let loading: Promise<void> | undefined

/** Loaded on the first response, because most tests have no sandbox. */
const load = async (): Promise<void> => {
  const { unofficial } = await import('./clients/official.ts')
  check = ({ method, path, status, answer }) => {
    for (const problem of unofficial(method, path, status, answer)) problems.add(problem)
  }
  waiting.splice(0).forEach(check)
}

const note = (message: unknown): void => {
  const answer = message as PublishedAnswer
  if (check === undefined) {
    waiting.push(answer)
    loading ??= load()
  } else check(answer)
}
subscribe(ANSWERS, note)

const expectOfficial = async (): Promise<void> => {
  await loading
  const found = problems
  problems = new Set()
  expect([...found], "responses that do not match the service's OpenAPI document").toEqual([])
}
afterEach(expectOfficial)
afterAll(async () => {
  // The next test file in this worker subscribes again.
  unsubscribe(ANSWERS, note)
  await expectOfficial()
})
