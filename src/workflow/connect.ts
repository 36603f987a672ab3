/** Which control API a run talks to: the service, or an embedded sandbox that ends with the run. */
import { type ApiOptions, createReadApi, createWriteApi, type ReadApi, type WriteApi } from '../api/index.ts'

export type Target =
  | { readonly apiKey: string; readonly baseUrl?: string | undefined }
  | { readonly sandbox: SandboxTarget }

export interface SandboxTarget {
  /** Default: its state ends with it. */
  readonly stateDir?: string | undefined
  /** The file of its seed. */
  readonly seed?: string | undefined
  readonly timeScale?: number | undefined
  /** Whether it does things by itself, as the service does. Default: yes. */
  readonly background?: boolean | undefined
}

export interface Connection {
  readonly options: ApiOptions
  /** Of a sandbox: what a person should know. */
  readonly warnings: readonly string[]
  /** A sandbox that had a state already: its seed was not used. */
  readonly isSeedUnused: boolean
  /** Ends the sandbox, if there is one. */
  close(): Promise<void>
}

/** @throws {EspalierError} what a sandbox throws that cannot start. */
export const connect = async (target: Target, options: Omit<ApiOptions, 'apiKey' | 'baseUrl'>): Promise<Connection> => {
  if ('sandbox' in target) return embedded(target.sandbox, options)
  const { apiKey, baseUrl = '' } = target
  return {
    options: { ...options, apiKey, ...(baseUrl === '' ? {} : { baseUrl }) },
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
    ...(stateDir === undefined ? {} : { stateDir }),
    ...(seed === undefined ? {} : { seed: await readSeed(seed) }),
    ...(timeScale === undefined ? {} : { timeScale }),
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
  closing(
    createWriteApi({ ...connection.options, ...(lockTimeoutMs === undefined ? {} : { lockTimeoutMs }) }),
    connection,
  )

const closing = <Api extends ReadApi>(api: Api, connection: Connection): OpenClient<Api> => ({
  api,
  close: async () => {
    await api.close()
    await connection.close()
  },
})

/** The result of `use`, once all is closed again. */
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
