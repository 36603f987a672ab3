/** Clients of the control API. */
import { createReadApi, createWriteApi } from '../api/index.ts'
import { defined } from '../base/index.ts'
import { clients } from './internals.ts'

export interface ClientOptions {
  readonly apiKey: string
  /** Root URL of the control API, including the version. Default: the URL of the public API. */
  readonly baseUrl?: string
  /** How many programs share the account's rate limits. This one uses only its share. Default: 1. */
  readonly sharedBy?: number
}

/** A client that can only read. */
export interface ReadClient {
  listProjects(): Promise<readonly { readonly id: string; readonly name: string }[]>
  close(): Promise<void>
}

/** A client that can also make changes. `apply` requires one. */
export interface WriteClient extends ReadClient {
  readonly canWrite: true
}

/** @throws {EspalierError} `E_KEY`, `E_BASE_URL`, `E_TLS`, `E_PROXY` */
export const createReadClient = (options: ClientOptions): ReadClient => {
  const api = createReadApi(optionsOf(options))
  return clients.publish({ listProjects: () => api.listProjects(), close: () => api.close() }, api)
}

/**
 * @param options `lockTimeoutMs`: how long to wait for a locked project. Default: ten minutes.
 * @throws {EspalierError} `E_KEY`, `E_BASE_URL`, `E_TLS`, `E_PROXY`
 */
export const createWriteClient = (options: ClientOptions & { readonly lockTimeoutMs?: number }): WriteClient => {
  const { lockTimeoutMs } = options
  const api = createWriteApi({ ...optionsOf(options), ...defined({ lockTimeoutMs }) })
  return clients.publish({ listProjects: () => api.listProjects(), close: () => api.close(), canWrite: true }, api)
}

const optionsOf = ({ apiKey, baseUrl, sharedBy }: ClientOptions) => ({
  apiKey,
  ...defined({ baseUrl, clients: sharedBy }),
})
