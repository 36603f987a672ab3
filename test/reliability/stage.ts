/** A sandbox and the engine that works on it in one virtual time, over real HTTP: ten minutes of waiting take none. */
import { subscribe } from 'node:diagnostics_channel'
import { type ApiOptions, createWriteApi, type WriteApi } from '../../src/api/index.ts'
import type { Clock } from '../../src/model/index.ts'
import { manualClock, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'

export interface Stage {
  readonly sandbox: Sandbox
  /** The engine's time, which is the sandbox's. */
  readonly clock: Clock
  /** To be told of whatever happens next to requests and sleeps. */
  busy(): void
  connect(options?: Partial<ApiOptions>): WriteApi
  /** Moves time on whenever everybody waits for it, until the work is done. */
  during<T>(work: Promise<T>): Promise<T>
}

/**
 * Client and server share one event loop: after so many turns in which nothing happened, nothing is on its way.
 * Without an open request, only what runs at once is left.
 */
const IDLE_TURNS = { requested: 25, alone: 4 }
/** Requests that are on their way, of all clients of this process. */
const requests = { open: 0 }
for (const [name, by] of [
  ['create', 1],
  ['trailers', -1],
  ['error', -1],
] as const) {
  subscribe(`undici:request:${name}`, () => {
    requests.open += by
  })
}

/** A file that is being written, or a program that runs, takes no virtual time. */
const isDiskBusy = (): boolean =>
  process
    .getActiveResourcesInfo()
    .some((name) => name.startsWith('FSReq') || name === 'CloseReq' || name === 'ProcessWrap')
/** Where a request is held up and nobody sleeps. */
const STRIDE_MS = 50

export interface StageOptions extends Omit<SandboxOptions, 'clock'> {
  /** Told of each request once it was handled and before its answer leaves. */
  readonly onHandled?: (method: string, path: string, status: number) => void
}

export const openStage = async ({ onHandled, ...options }: StageOptions = {}): Promise<Stage> => {
  const time = manualClock()
  const wakes = new Set<number>()
  let happenings = 0
  const sandbox = await startSandbox({
    background: false,
    ...options,
    clock: time,
    onRequest: (method, path, status) => {
      happenings += 1
      onHandled?.(method, path, status)
    },
  })
  const clock: Clock = {
    now: () => time.now(),
    sleep: (ms, signal) => {
      happenings += 1
      const wake = time.now() + ms
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => () => {
          happenings += 1
          wakes.delete(wake)
          cancel()
          signal?.removeEventListener('abort', refuse)
          settle()
        }
        const refuse = end(() => reject(signal?.reason))
        const cancel = time.at(wake, end(resolve))
        wakes.add(wake)
        if (signal?.aborted === true) refuse()
        else signal?.addEventListener('abort', refuse)
      })
    },
  }
  const advance = (): Promise<void> => {
    // Whoever sleeps long must not wake while a request is on its way.
    const stride = time.now() + STRIDE_MS
    const next = Math.min(...(wakes.size === 0 || requests.open > 0 ? [stride] : []), ...wakes)
    return time.advance(Math.max(0, next - time.now()))
  }
  return {
    sandbox,
    clock,
    busy: () => {
      happenings += 1
    },
    connect: (api = {}) =>
      createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock, random: () => 0.5, ...api }),
    during: async (work) => {
      let settled = false
      const done = work.finally(() => {
        settled = true
      })
      // Its failure is thrown below; until then it is nobody's.
      done.catch(() => undefined)
      for (let [idle, seen] = [0, happenings]; !settled; ) {
        await new Promise((resolve) => setImmediate(resolve))
        idle = seen === happenings ? idle + 1 : 0
        seen = happenings
        if (idle < (requests.open > 0 ? IDLE_TURNS.requested : IDLE_TURNS.alone)) continue
        idle = 0
        if (isDiskBusy()) await new Promise((resolve) => setTimeout(resolve, 1))
        else await advance()
      }
      return done
    },
  }
}
