/** A sandbox and its clients in one process and in virtual time, without connections: requests arrive in a fixed order. */
import { type ApiOptions, createWriteApi, type WriteApi } from '../../src/api/index.ts'
import type { Clock } from '../../src/base/index.ts'
import type { Observed } from '../../src/model/index.ts'
import { type FaultOrder, manualClock, type Sandbox, startSandbox, worldOf } from '../../src/sandbox/index.ts'
import { type VirtualTime, virtualTime } from '../virtual-time.ts'
import { Memory } from './memory.ts'

export interface Sent {
  readonly method: string
  /** Below the root of the API, with its query. */
  readonly path: string
  readonly body: string | undefined
}

interface Response {
  readonly status: number
  readonly text: string
}

/** What a client gets: a response, an error of the connection, or nothing at all. */
export type Answer = Response | 'reset' | 'nothing'

/** After this many turns of the event loop without a request or a wait, everyone waits for time to pass. */
const IDLE_TURNS = 4

/** Everything depends only on the world at the beginning and on what is sent, so each replay of a run is the same. */
export class Direct {
  readonly sandbox: Sandbox
  /** How far the clients' clock is ahead of the sandbox's, in milliseconds. */
  skewMs = 0
  readonly #begin: () => VirtualTime
  readonly #headers: Readonly<Record<string, string>>
  #virtual: VirtualTime
  #memory = new Memory()
  #isFaulty = false
  #open = 0
  /** The answer to the request that was sent last. */
  #last: Promise<unknown> = Promise.resolve()
  /** Identifies everything that has happened to the sandbox since it was loaded. */
  #history = 0

  private constructor(sandbox: Sandbox, begin: () => VirtualTime) {
    this.sandbox = sandbox
    this.#begin = begin
    this.#virtual = begin()
    this.#headers = {
      authorization: `Bearer ${sandbox.apiKey}`,
      'content-type': 'application/json',
      // It is part of error messages.
      'x-request-id': 'one',
    }
  }

  static async open(): Promise<Direct> {
    let time = manualClock()
    let drawn = 0
    const sandbox = await startSandbox({
      // Too short to be looked for in each response, which takes time.
      apiKey: 'key',
      background: false,
      clock: {
        scale: 0,
        now: () => time.now(),
        when: (moment) => time.when(moment),
        at: (when, task) => time.at(when, task),
        advance: (ms) => time.advance(ms),
      },
      durationSpread: 0,
      random: () => {
        drawn = (drawn * 16_807 + 11) % 2_147_483_647
        return drawn / 2_147_483_647
      },
    })
    const direct: Direct = new Direct(sandbox, () => {
      time = manualClock()
      drawn = 0
      return virtualTime({ time, idleTurns: () => (direct.#open > 0 ? Number.POSITIVE_INFINITY : IDLE_TURNS) })
    })
    return direct
  }

  get now(): number {
    return this.sandbox.clock.now()
  }

  get history(): string {
    return `${this.#history} ${this.now}`
  }

  /** Begins a run. What is left of the run before never continues. */
  load(live: Observed, memory: Memory): void {
    this.#memory = memory
    this.clearFaults()
    this.#history = 0
    this.#open = 0
    this.#last = Promise.resolve()
    this.skewMs = 0
    this.#virtual = this.#begin()
    this.sandbox.control.clearRequests()
    this.sandbox.control.load(worldOf(live, this.now))
  }

  /** Sends a request to the sandbox. */
  async send({ method, path, body }: Sent): Promise<Response> {
    const id = `${this.history} ${method} ${path} ${body}`
    const isRead = method === 'GET' && !this.#isFaulty
    const known = isRead ? this.#memory.responses.get(id) : undefined
    if (known !== undefined) return known
    const init = { method, headers: this.#headers, ...(body === undefined ? {} : { body }) }
    const answer = await this.sandbox.fetch(new Request(`${this.sandbox.apiUrl}${path}`, init))
    const response = { status: answer.status, text: await answer.text() }
    if (isRead) this.#memory.responses.set(id, response)
    else if (response.status < 300 || this.#isFaulty) this.#note(id)
    return response
  }

  addFault(fault: FaultOrder): void {
    this.sandbox.control.addFault(fault)
    this.#isFaulty = true
    this.#note(`${this.history} ${JSON.stringify(fault)}`)
  }

  clearFaults(): void {
    this.sandbox.control.clearFaults()
    if (this.#isFaulty) this.#note(`${this.history} no faults`)
    this.#isFaulty = false
  }

  advance(ms: number): Promise<void> {
    return this.sandbox.clock.advance(ms)
  }

  /** Advances time whenever everyone waits for it, until the work is done or `stopped` returns true. */
  during<T>(work: Promise<T>, stopped?: () => boolean): Promise<T | undefined> {
    return this.#virtual.during(work, stopped)
  }

  connect(answer: (sent: Sent) => Promise<Answer>): { readonly api: WriteApi; readonly clock: Clock } {
    const virtual = this.#virtual
    const now = (): number => virtual.clock.now() + this.skewMs
    const clock: Clock = { ...virtual.clock, now, date: now }
    /** One answer after another, each once the one before was used: a known response is faster, and must not overtake. */
    const inTurn = async (sent: Sent, before: Promise<unknown>): Promise<Answer> => {
      await before.catch(() => undefined)
      await new Promise((resolve) => setImmediate(resolve))
      return answer(sent)
    }
    const counted = async (sent: Sent): Promise<Answer> => {
      const isCurrent = virtual === this.#virtual
      virtual.busy()
      if (isCurrent) this.#open += 1
      const answered = inTurn(sent, this.#last)
      this.#last = answered
      try {
        return await answered
      } finally {
        virtual.busy()
        if (virtual === this.#virtual) this.#open -= 1
      }
    }
    const { apiUrl: baseUrl, apiKey } = this.sandbox
    const api = createWriteApi({
      baseUrl,
      apiKey,
      clock,
      random: () => 0.5,
      rateLimit: false,
      lockTimeoutMs: 45_000,
      dispatcher: inProcess(new URL(baseUrl).pathname.length, counted),
    })
    return { clock, api }
  }

  #note(id: string): void {
    this.#history = this.#memory.idOf(id)
  }
}

/** Gives requests to a function instead of the network. */
const inProcess = (
  rootLength: number,
  answer: (sent: Sent) => Promise<Answer>,
): NonNullable<ApiOptions['dispatcher']> => ({
  request: ({ method, path, body, signal }) =>
    new Promise((resolve, reject) => {
      if (signal instanceof AbortSignal) signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      void answer({
        method,
        path: path.slice(rootLength),
        body: typeof body === 'string' ? body : undefined,
      }).then((given) => {
        if (given === 'nothing') return
        if (given === 'reset') reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
        else resolve({ statusCode: given.status, headers: {}, body: { text: async () => given.text } })
      }, reject)
    }),
  close: async () => undefined,
})
