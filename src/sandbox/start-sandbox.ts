/** The embedded control plane. It consists of a world, a store for the world, and a server on 127.0.0.1. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { EspalierError, plainText } from '../base/index.ts'
import { type SandboxClock, scaledClock } from './clock.ts'
import { defaultVersion } from './computes/computes.ts'
import { openControl, type SandboxControl } from './control/control.ts'
import { Faults } from './faults.ts'
import { type OpenedStore, openFileStore } from './file-store.ts'
import { type ComputesChoice, openWorld } from './open-world.ts'
import type { SandboxOptions as PublicOptions, Sandbox as PublicSandbox } from './public-types.ts'
import { API_ROOT, createApp } from './routes/app.ts'
import { CONTROL_ROOT, controlRoutes } from './routes/control.ts'
import { resolveSeed, type Seed } from './seed/seed.ts'
import { seedRecords } from './seed/seed-records.ts'
import { memoryStore, type WorldChange } from './world/records.ts'

export interface SandboxOptions extends Omit<PublicOptions, 'clock' | 'computes' | 'seed'> {
  /** Whether to use another free port if `port` is already in use. Default: no. */
  readonly anyPort?: boolean
  /** The initial projects. They are used only if there is no stored state. */
  readonly seed?: Seed
  /** Whether to discard a stored state that was not made from this seed. Default: no. */
  readonly followsSeed?: boolean
  /** Default: a clock that runs at `timeScale`. */
  readonly clock?: SandboxClock
  /** By what fraction, from 0 to 1, durations may be shorter or longer. Default: 0.1. */
  readonly durationSpread?: number
  /** Default: simulated. */
  readonly computes?: ComputesChoice
  /** Bearer token for `/_sandbox/`. Default: a new one. */
  readonly controlToken?: string
  /** Returns a random number in [0, 1), for new ids and for faults. Default: the system's random numbers. */
  readonly random?: () => number
  /** Called after each response. */
  readonly onRequest?: (method: string, path: string, status: number) => void
}

export interface Sandbox
  extends Pick<PublicSandbox, 'apiUrl' | 'apiKey' | 'controlUrl' | 'controlToken' | 'requests' | 'close'> {
  /** Answers a request to the API without a connection. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The sandbox's own API, as functions instead of HTTP requests. */
  readonly control: SandboxControl
  readonly clock: SandboxClock
  /** Problems that the user should fix. Each is described in one sentence. */
  readonly warnings: readonly string[]
  /** Whether the given seed was ignored because there was already a stored state. */
  readonly isSeedIgnored: boolean
  /** Whether the stored state was discarded because the seed has changed. */
  readonly hasStartedOver: boolean
}

/**
 * Starts a control plane on 127.0.0.1.
 *
 * @throws {EspalierError} `E_SANDBOX_STATE` if the state folder cannot be used, `E_LISTEN` if the port is
 *   taken, `E_SEED` if the seed is invalid, `E_POSTGRES` if Postgres cannot run.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const opened = options.stateDir === undefined ? undefined : openFileStore(options.stateDir)
  try {
    return await serve(options, opened)
  } catch (error) {
    opened?.store.close()
    throw error
  }
}

const serve = async (options: SandboxOptions, opened: OpenedStore | undefined): Promise<Sandbox> => {
  // Log lines contain text from clients and from Postgres, so newlines and control characters must be escaped.
  const log = (line: string): void => options.log?.(plainText(line))
  const stored = opened?.read() ?? []
  const seedDigest = createHash('sha256')
    .update(JSON.stringify(options.seed ?? null))
    .digest('hex')
  const hasStartedOver = options.followsSeed === true && stored.length > 0 && opened?.seedDigest !== seedDigest
  const kept = hasStartedOver ? [] : stored
  // The clock must not go back. If it was faster than real time in an earlier run, the stored times may be in the
  // future.
  const clock = options.clock ?? scaledClock(options.timeScale, Math.max(Date.now(), latestTime(kept)))
  const apiKey = options.apiKey ?? opened?.apiKey ?? `sandbox_${randomBytes(18).toString('base64url')}`
  const controlToken = options.controlToken ?? randomBytes(18).toString('base64url')
  const faults = new Faults(options.random)
  const { world, computes, setLoad, noteRequest } = await openWorld({
    ...options,
    clock,
    log,
    faults,
    store: opened?.store ?? memoryStore,
  })
  const seed = kept.length === 0 ? options.seed : undefined
  let requests = 0
  const parts = { world, computes, faults, recorded: [] }
  const app = createApp({
    ...parts,
    apiKey,
    rateLimits: options.rateLimits ?? false,
    onProject: noteRequest,
    onRequest: (method, path, status) => {
      requests += 1
      log(`${method} ${path} ${status}`)
      options.onRequest?.(method, path, status)
    },
    log,
  })
  const control = openControl(parts, setLoad)
  app.route(CONTROL_ROOT, controlRoutes(control, controlToken))
  // Do not replace Node's global objects, because the sandbox may run inside another program.
  const server = createServer(
    // Node's default of 5 s is too short, because a client could send a change while its connection is being closed.
    { keepAliveTimeout: 65_000 },
    getRequestListener(app.fetch, { overrideGlobalObjects: false }),
  )
  const endWebSockets =
    computes.kind === 'postgres' ? (await import('./routes/sql.ts')).serveWebSockets(server, computes) : undefined
  try {
    world.restore(
      seed === undefined
        ? kept
        : seedRecords(resolveSeed(seed), clock.now(), { ...options, pgVersion: defaultVersion(computes.versions) }).map(
            (put) => ({ put }),
          ),
    )
    computes.prune?.()
    opened?.begin(() => world.tables.dump())
    opened?.storeKey(apiKey)
    if (seed !== undefined) opened?.storeSeedDigest(seedDigest)
    await listen(server, options.port ?? 0, options.anyPort ?? false)
  } catch (error) {
    world.stop()
    await computes.close()
    throw error
  }
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let closing: Promise<void> | undefined
  return {
    apiUrl: `${origin}${API_ROOT}`,
    apiKey,
    controlUrl: `${origin}${CONTROL_ROOT}`,
    controlToken,
    fetch: async (request) => app.fetch(request),
    control,
    clock,
    warnings: opened?.warnings ?? [],
    isSeedIgnored: options.seed !== undefined && seed === undefined,
    hasStartedOver,
    get requests() {
      return requests
    },
    close: () => {
      endWebSockets?.()
      closing ??= end(server).then(async () => {
        world.stop()
        await computes.close()
        opened?.store.close()
      })
      return closing
    },
  }
}

const listen = async (server: Server, port: number, anyPort: boolean): Promise<void> => {
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (cause) {
    if (anyPort && port !== 0) return listen(server, 0, false)
    throw new EspalierError('E_LISTEN', `The sandbox cannot listen on port ${port}.`, {
      hint: 'Another program may be using it. Choose another port with --port, or 0 for any free port.',
      cause,
    })
  }
}

const end = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** The latest time in the state, in milliseconds since the epoch, or 0 if the state contains no time. */
const latestTime = (changes: readonly WorldChange[]): number => {
  let latest = 0
  for (const change of changes) {
    if ('put' in change && change.put.kind !== 'key') latest = Math.max(latest, change.put.updatedAt ?? 0)
  }
  return latest
}
