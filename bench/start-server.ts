/** Starts and controls the sandbox process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { World } from './worlds.ts'

export interface ServerOrder {
  readonly world: World
  /** The durations of operations in milliseconds, by action. For other actions, the defaults are used. */
  readonly durations?: Readonly<Record<string, number>>
  readonly durationSpread?: number
}

export interface SeenRequest {
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The path relative to the API root, with the query. */
  readonly path: string
  readonly status: number
}

export interface SeenOperation {
  readonly id: string
  readonly projectId: string
  readonly startedAt: number
  /** When the operation ended, if it has ended. */
  readonly updatedAt: number
}

export interface Seen {
  /** The requests since the previous call. */
  readonly requests: readonly SeenRequest[]
  readonly operations: readonly SeenOperation[]
}

export interface Server {
  readonly url: string
  readonly key: string
  /** Environment variables for the program. */
  readonly env: Readonly<Record<string, string>>
  setLatency(latencyMs: number): Promise<void>
  seen(): Promise<Seen>
  stop(): Promise<void>
}

export const startServer = async (order: ServerOrder): Promise<Server> => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/server.ts', JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Readonly<Record<string, never>>> => JSON.parse((await lines.next()).value ?? '{}')
  const ask = (question: object) => {
    child.stdin.write(`${JSON.stringify(question)}\n`)
    return next()
  }
  const { url, key } = (await next()) as unknown as { readonly url: string; readonly key: string }
  return {
    url,
    key,
    env: { ESPALIER_BASE_URL: url, ESPALIER_API_KEY: key },
    setLatency: async (latencyMs) => {
      await ask({ latencyMs })
    },
    seen: async () => (await ask({})) as unknown as Seen,
    stop: async () => {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
