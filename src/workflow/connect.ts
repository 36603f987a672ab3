/** The control API of a run: the service, or an embedded sandbox that stops with the run. */
import { type ApiOptions, createReadApi, createWriteApi, type ReadApi, type WriteApi } from '../api/index.ts'
import { defined } from '../base/index.ts'

export type Target =
  | { readonly apiKey: string; readonly baseUrl?: string | undefined }
  | { readonly sandbox: SandboxTarget }

export interface SandboxTarget {
  /** Default: its state is discarded. */
  readonly stateDir?: string | undefined
  /** The seed file. */
  readonly seed?: string | undefined
  readonly timeScale?: number | undefined
  /** Whether it suspends idle computes and runs maintenance, as the service does. Default: yes. */
  readonly background?: boolean | undefined
}

export interface Connection {
  readonly options: ApiOptions
  /** Log lines of the sandbox, for users. */
  readonly warnings: readonly string[]
  /** The sandbox already had a state, so its seed was not used. */
  readonly isSeedUnused: boolean
  /** Stops the sandbox, if there is one. */
  close(): Promise<void>
}

/** @throws {EspalierError} if the sandbox cannot start. */
export const connect = async (target: Target, options: Omit<ApiOptions, 'apiKey' | 'baseUrl'>): Promise<Connection> => {
  if ('sandbox' in target) return embedded(target.sandbox, options)
  const { apiKey, baseUrl } = target
  return {
    options: { ...options, apiKey, ...defined({ baseUrl: baseUrl || undefined }) },
    warnings: [],
    isSeedUnused: false,
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
    ...defined({ stateDir, seed: seed === undefined ? undefined : await readSeed(seed), timeScale }),
  })
  return {
    options: { ...options, baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey },
    warnings: sandbox.warnings,
    isSeedUnused: sandbox.isSeedIgnored,
    close: () => sandbox.close(),
  }
}

export interface OpenClient<Api> {
  readonly api: Api
  close(): Promise<void>
}

export const openReadClient = (connection: Connection): OpenClient<ReadApi> =>
  closing(createReadApi(connection.options), connection)

/** @param lockTimeoutMs how long to wait for a locked project. Default: ten minutes. */
export const openWriteClient = (connection: Connection, lockTimeoutMs?: number): OpenClient<WriteApi> =>
  closing(createWriteApi({ ...connection.options, ...defined({ lockTimeoutMs }) }), connection)

const closing = <Api extends ReadApi>(api: Api, connection: Connection): OpenClient<Api> => ({
  api,
  close: async () => {
    await api.close()
    await connection.close()
  },
})

/** Runs `use`, then closes the client. */
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
