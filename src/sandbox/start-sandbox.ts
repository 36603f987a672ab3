/** The embedded control plane: a world, its store and a server on loopback. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { EspalierError } from '../model/index.ts'
import { type SandboxClock, scaledClock } from './clock/clock.ts'
import { API_ROOT, createApp } from './routes/app.ts'
import { plant } from './seed/plant.ts'
import { resolveSeed, type Seed } from './seed/seed.ts'
import { openFileStore } from './store/file-store.ts'
import { memoryStore } from './store/store.ts'
import { finishOperation } from './world/finish.ts'
import { ScaleToZero } from './world/scale-to-zero.ts'
import { World } from './world/world.ts'

export interface SandboxOptions {
  /** Default 0: a free one. */
  readonly port?: number
  /** Where the state is kept; without it the world ends with the process. */
  readonly stateDir?: string
  /** What to start from where there is no state yet. */
  readonly seed?: Seed
  /** How many times as fast as real its time runs. Default 1. */
  readonly timeScale?: number
  /** In place of scaled real time. */
  readonly clock?: SandboxClock
  /** Default: the one kept in the state, or a new one. */
  readonly apiKey?: string
  readonly log?: (line: string) => void
  readonly onRequest?: (method: string, path: string, status: number) => void
}

export interface Sandbox {
  /** The API's root, version segment included. */
  readonly apiUrl: string
  readonly apiKey: string
  readonly clock: SandboxClock
  close(): Promise<void>
}

/**
 * Starts a control plane on 127.0.0.1.
 *
 * @throws {EspalierError} `E_SANDBOX_STATE` where the state folder cannot be used, `E_SANDBOX_PORT` where the port is taken.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const clock = options.clock ?? scaledClock(options.timeScale)
  const log = options.log ?? (() => undefined)
  const opened = options.stateDir === undefined ? undefined : openFileStore(options.stateDir)
  const apiKey = options.apiKey ?? opened?.apiKey ?? `sandbox_${randomBytes(18).toString('base64url')}`
  const idleTimers = new ScaleToZero()
  const world = new World({
    clock,
    log,
    store: opened?.store ?? memoryStore,
    finish: finishOperation,
    onCompute: (compute, of) => idleTimers.watch(compute, of),
  })
  const kept = opened?.changes ?? []
  const planted = kept.length === 0 && options.seed !== undefined ? plant(resolveSeed(options.seed), clock.now()) : []
  world.restore(kept.length > 0 ? kept : planted.map((put) => ({ put })))
  opened?.begin(() => world.tables.dump())
  opened?.keepKey(apiKey)

  const app = createApp({
    world,
    apiKey,
    onRequest: (method, path, status) => {
      log(`${method} ${path} ${status}`)
      options.onRequest?.(method, path, status)
    },
  })
  const server = createServer(getRequestListener(app.fetch))
  const release = (): void => {
    clock.stop()
    opened?.store.close()
  }
  server.listen(options.port ?? 0, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (cause) {
    release()
    throw new EspalierError('E_SANDBOX_PORT', `The sandbox cannot listen on port ${options.port}.`, {
      hint: 'Another program may use it: choose another with --port, or 0 for a free one.',
      cause,
    })
  }
  const { port } = server.address() as AddressInfo
  return {
    apiUrl: `http://127.0.0.1:${port}${API_ROOT}`,
    apiKey,
    clock,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      release()
    },
  }
}
