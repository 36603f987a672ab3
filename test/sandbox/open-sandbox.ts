/** A sandbox on a manual clock, called over real HTTP. Every exchange is checked against the sandbox's OpenAPI document. */
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import {
  manualClock,
  type Sandbox,
  type SandboxClock,
  type SandboxOptions,
  startSandbox,
} from '../../src/sandbox/index.ts'
import { undocumented } from './openapi.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape; the assertions check it.
  readonly body: any
}

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

export interface Opened {
  readonly sandbox: Sandbox
  readonly clock: SandboxClock
  readonly call: Call
  /** Advances the clock until no operation runs, but less than any scale-to-zero timeout. */
  settle(): Promise<void>
}

export const P = '/projects/quiet-river-12345678'
export const MAIN = 'br-calm-lake-a0000001'
export const STAGING = 'br-calm-lake-a0000002'
export const EMPTY = 'br-calm-lake-a0000003'
export const GUARDED = 'br-calm-lake-a0000004'
export const PRIMARY = 'ep-calm-lake-a0000001'
export const IDLE = 'ep-calm-lake-a0000002'
export const REPLICA = 'ep-calm-lake-a0000003'
export const GUARDED_PRIMARY = 'ep-calm-lake-a0000004'

/** `main` with an active primary, `staging` with an idle one and a replica, `empty`, and a protected branch. */
export const SEED = {
  projects: [
    {
      id: 'quiet-river-12345678',
      name: 'shop',
      branches: [
        { id: MAIN, name: 'main', default: true, computes: [{ id: PRIMARY, size: 1, scaleToZero: 'never' }] },
        {
          id: STAGING,
          name: 'staging',
          parent: 'main',
          computes: [
            { id: IDLE, size: 0.5, state: 'idle' },
            { id: REPLICA, type: 'read_only', name: 'reporting', size: 2, scaleToZero: 'never' },
          ],
        },
        { id: EMPTY, name: 'empty', parent: 'main' },
        {
          id: GUARDED,
          name: 'guarded',
          protected: true,
          computes: [{ id: GUARDED_PRIMARY, size: 1, scaleToZero: 'never' }],
        },
      ],
    },
    { id: 'tiny-pond-00000001', plan: 'free', branches: [{ id: 'br-tiny-pond-a0000001', name: 'main' }] },
  ],
} as const satisfies SandboxOptions['seed']

export const caller =
  ({ apiUrl, apiKey }: Pick<Sandbox, 'apiUrl' | 'apiKey'>): Call =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const answered = text === '' ? undefined : JSON.parse(text)
    // The document does not cover the sandbox's own API.
    if (apiUrl.endsWith('/api/v2')) {
      const sent = typeof body === 'string' ? undefined : body
      expect(undocumented({ method, path, sent, status: response.status, answered })).toEqual([])
    }
    return { status: response.status, headers: response.headers, body: answered }
  }

export const openSandbox = async (options: SandboxOptions = {}): Promise<Opened> => {
  const clock = manualClock()
  const sandbox = await startSandbox({ seed: SEED, clock, ...options })
  onTestFinished(() => sandbox.close())
  return { sandbox, clock, call: caller(sandbox), settle: () => clock.advance(10_000) }
}

/** A single sandbox for the tests of a file that change nothing in it. */
export const sharedSandbox = (): (() => Pick<Opened, 'sandbox' | 'call'>) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox({ seed: SEED, clock: manualClock() })
  })
  afterAll(() => sandbox.close())
  return () => ({ sandbox, call: caller(sandbox) })
}

/** Action and status of each operation in a response, in order. */
export const operationsOf = ({ body }: Answer): readonly string[] =>
  body.operations.map(({ action, status }: { action: string; status: string }) => `${action} ${status}`)
