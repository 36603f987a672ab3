/** A sandbox and its clients in one process and in virtual time, without connections: requests arrive in a fixed order. */
import { Dispatcher } from 'undici'
import { createWriteApi, type WriteApi } from '../../src/api/index.ts'
import type { Clock } from '../../src/base/index.ts'
import { manualClock, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'

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

/** After this many turns of the event loop without a request or a wait, everyone waits for time to pass. */
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
  const wakes = new Map<number, number>()
  let [activity, open] = [0, 0]
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
  const clock: Clock = {
    now: () => time.now() + skewMs,
    date: () => time.now() + skewMs,
    sleep: (ms, signal) => {
      activity += 1
      const wake = time.now() + ms
      wakes.set(wake, (wakes.get(wake) ?? 0) + 1)
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => () => {
          activity += 1
          const others = (wakes.get(wake) ?? 1) - 1
          if (others === 0) wakes.delete(wake)
          else wakes.set(wake, others)
          cancel()
          signal?.removeEventListener('abort', onAbort)
          settle()
        }
        const onAbort = end(() => reject(signal?.reason))
        const cancel = time.at(wake, end(resolve))
        if (signal?.aborted === true) onAbort()
        else signal?.addEventListener('abort', onAbort)
      })
    },
  }
  const advance = (): Promise<void> =>
    time.advance(wakes.size === 0 ? 50 : Math.max(0, Math.min(...wakes.keys()) - time.now()))
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
        activity += 1
        open += 1
        try {
          return await answer(sent)
        } finally {
          activity += 1
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
    during: async (work, stopped = () => false) => {
      let settled = false
      const done = work.finally(() => {
        settled = true
      })
      done.catch(() => undefined)
      for (let [idle, seen] = [0, activity]; !settled; ) {
        await new Promise((resolve) => setImmediate(resolve))
        if (stopped()) return undefined
        idle = seen === activity ? idle + 1 : 0
        seen = activity
        if (idle < IDLE_TURNS || open > 0) continue
        idle = 0
        await advance()
      }
      return done
    },
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
