/** A sandbox and its clients in one process and in virtual time, without connections: requests arrive in a fixed order. */
import { Dispatcher } from 'undici'
import { createWriteApi, type WriteApi } from '../../src/api/index.ts'
import type { Clock } from '../../src/base/index.ts'
import { manualClock, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { virtualTime } from '../virtual-time.ts'

export interface Sent {
  readonly method: string
  /** Below the root of the API, with its query. */
  readonly path: string
  readonly body: string | undefined
}

/** What a client gets: a response, an error of the connection, or nothing at all. */
export type Answer = { readonly status: number; readonly text: string } | 'reset' | 'nothing'

export interface Direct {
  readonly sandbox: Sandbox
  connect(answer: (sent: Sent) => Promise<Answer>): { readonly api: WriteApi; readonly clock: Clock }
  /** Sends a request of another client. Returns the status. */
  send(sent: Sent): Promise<{ readonly status: number; readonly text: string }>
  /** Makes the ids of new computes the same in each run. */
  reset(): void
  /** How far the clients' clock is ahead of the sandbox's. */
  skew(ms: number): void
  readonly skewMs: number
  /** Advances time whenever everyone waits for it, until the work is done or `stopped` returns true. */
  during<T>(work: Promise<T>, stopped?: () => boolean): Promise<T | undefined>
}

const IDLE_TURNS = 4

export const openDirect = async (): Promise<Direct> => {
  const time = manualClock()
  let drawn = 0
  const sandbox = await startSandbox({
    background: false,
    clock: time,
    durationSpread: 0,
    random: () => {
      drawn = (drawn * 16_807 + 11) % 2_147_483_647
      return drawn / 2_147_483_647
    },
  })
  let open = 0
  const {
    clock: shared,
    busy,
    during,
  } = virtualTime({ time, idleTurns: () => (open > 0 ? Number.POSITIVE_INFINITY : IDLE_TURNS) })
  const { pathname } = new URL(sandbox.apiUrl)
  const send: Direct['send'] = async ({ method, path, body }) => {
    const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' }
    const request = new Request(`${sandbox.apiUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const response = await sandbox.fetch(request)
    return { status: response.status, text: await response.text() }
  }
  let skewMs = 0
  const clock: Clock = { ...shared, now: () => time.now() + skewMs, date: () => time.now() + skewMs }
  return {
    sandbox,
    send,
    reset: () => {
      drawn = 0
      skewMs = 0
    },
    skew: (ms) => {
      skewMs = ms
    },
    get skewMs() {
      return skewMs
    },
    connect: (answer) => {
      const counted = async (sent: Sent): Promise<Answer> => {
        busy()
        open += 1
        try {
          return await answer(sent)
        } finally {
          busy()
          open -= 1
        }
      }
      const dispatcher = new InProcess(pathname, counted)
      const { apiUrl: baseUrl, apiKey } = sandbox
      return {
        clock,
        api: createWriteApi({
          baseUrl,
          apiKey,
          clock,
          random: () => 0.5,
          rateLimit: false,
          lockTimeoutMs: 45_000,
          dispatcher,
        }),
      }
    },
    during,
  }
}

/** Gives requests to a function instead of the network. */
class InProcess extends Dispatcher {
  readonly #root: string
  readonly #answer: (sent: Sent) => Promise<Answer>

  constructor(root: string, answer: (sent: Sent) => Promise<Answer>) {
    super()
    this.#root = root
    this.#answer = answer
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    handler.onConnect?.(() => undefined)
    const { method, path, body } = options
    void this.#answer({
      method,
      path: path.slice(this.#root.length),
      body: typeof body === 'string' ? body : undefined,
    }).then((answer) => {
      if (answer === 'nothing') return
      if (answer === 'reset') {
        const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
        handler.onError?.(error)
        return
      }
      handler.onHeaders?.(
        answer.status,
        [Buffer.from('content-type'), Buffer.from('application/json')],
        () => undefined,
        '',
      )
      handler.onData?.(Buffer.from(answer.text))
      handler.onComplete?.([])
    })
    return true
  }
}
