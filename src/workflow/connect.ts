/** Connects a run to the control API, which is the service's or that of an embedded sandbox that stops with the run. */
import { type ApiOptions, createReadApi, createWriteApi, type ReadApi, type WriteApi } from '../api/index.ts'
import { defined } from '../base/index.ts'

export type Target =
  | { readonly apiKey: string; readonly baseUrl?: string | undefined }
  | { readonly sandbox: SandboxTarget }

export interface SandboxTarget {
  /** The folder for the sandbox's state. By default, the state is discarded. */
  readonly stateDir?: string | undefined
  /** The seed file. If it has changed since the state was stored, the state is discarded. */
  readonly seed?: string | undefined
  readonly timeScale?: number | undefined
  /** Whether the sandbox suspends idle computes and runs maintenance, as the service does. On by default. */
  readonly background?: boolean | undefined
}

export interface Connection {
  readonly options: ApiOptions & { readonly apiKey: string }
  /** Log lines from the sandbox that should be shown to the user. */
  readonly warnings: readonly string[]
  /** Whether the state of the sandbox was discarded, because its seed has changed. */
  readonly hasStartedOver: boolean
  /** Stops the sandbox, if there is one. */
  close(): Promise<void>
}

/** @throws {EspalierError} if the sandbox cannot be started. */
export const connect = async (target: Target, options: Omit<ApiOptions, 'apiKey' | 'baseUrl'>): Promise<Connection> => {
  if ('sandbox' in target) return embedded(target.sandbox, options)
  const { apiKey, baseUrl } = target
  return {
    options: { ...options, apiKey, ...defined({ baseUrl: baseUrl || undefined }) },
    warnings: [],
    hasStartedOver: false,
    close: async () => undefined,
  }
}

const embedded = async (
  { stateDir, seed, timeScale, background = true }: SandboxTarget,
  { watch: _noOutages, ...options }: Omit<ApiOptions, 'apiKey' | 'baseUrl'>,
): Promise<Connection> => {
  const { readSeed, startSandbox } = await import('../sandbox/index.ts')
  const sandbox = await startSandbox({
    background,
    followsSeed: seed !== undefined,
    ...defined({ stateDir, seed: seed === undefined ? undefined : await readSeed(seed), timeScale }),
  })
  return {
    options: { ...options, baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey },
    warnings: sandbox.warnings,
    hasStartedOver: sandbox.hasStartedOver,
    close: () => sandbox.close(),
  }
}

export interface OpenClient<Api> {
  readonly api: Api
  close(): Promise<void>
}

export const openReadClient = (connection: Connection): OpenClient<ReadApi> =>
  closing(createReadApi(connection.options), connection)

/** @param lockTimeoutMs how long to wait for a locked project. The default is ten minutes. */
export const openWriteClient = (connection: Connection, lockTimeoutMs?: number): OpenClient<WriteApi> =>
  closing(createWriteApi({ ...connection.options, ...defined({ lockTimeoutMs }) }), connection)

const closing = <Api extends ReadApi>(api: Api, connection: Connection): OpenClient<Api> => ({
  api,
  close: async () => {
    await api.close()
    await connection.close()
  },
})

/** Calls `use`, and then closes the client. */
export const withClient = async <Api, T>(
  opening: Promise<OpenClient<Api>>,
  use: (api: Api) => Promise<T>,
): Promise<T> => {
  const { api, close } = await opening
  try {
    return await use(api)
  } finally {
    await close()
  }
}
