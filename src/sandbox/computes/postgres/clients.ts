/** Where clients connect: the proxy before the servers, its ports, and connections that the sandbox holds itself. */
import pg from 'pg'
import { type ComputeAddress, type ConnectionInfo, ConnectionRefusal, type Gate, type Login } from '../computes.ts'
import { ConnectionLog } from '../connection-log.ts'
import { selfSigned } from '../proxy/certificate.ts'
import { type ConnectionProxy, type ProxyOptions, startProxy } from '../proxy/proxy.ts'
import { wantedOf } from '../proxy/startup.ts'
import type { Home } from './home.ts'
import { SUPERVISOR } from './session.ts'

export const LOOPBACK = '127.0.0.1'
const INVALID_LOGIN = '28000'
const NAMES = ['localhost', '*.localhost', '*.aws.neon.tech', '*.sandbox.test']

export interface ClientsOptions extends Pick<ProxyOptions, 'reach' | 'isDiskFull' | 'secretOf'> {
  readonly home: Home
  readonly gate: Gate
  /** Port that all computes share; 0 takes a free one. */
  readonly port: number
  /** Whether another free port will do where `port` is taken. */
  readonly anyPort: boolean
  readonly log: (line: string) => void
}

/** @throws {EspalierError} `E_SANDBOX_PORT` if the port is taken. */
export const listenForClients = async (options: ClientsOptions): Promise<Clients> => {
  const connections = new ConnectionLog()
  const proxy = await startProxy(
    {
      reach: options.reach,
      secretOf: options.secretOf,
      isDiskFull: options.isDiskFull,
      certificate: () => selfSigned(NAMES, Date.now()),
      log: connections,
      refusedRole: SUPERVISOR,
      onBug: (error) => options.log(`proxy  ${error instanceof Error ? error.message : String(error)}`),
    },
    options,
  )
  return new Clients(options, connections, proxy)
}

export class Clients {
  readonly #home: Home
  readonly #gate: Gate
  readonly #connections: ConnectionLog
  readonly #proxy: ConnectionProxy
  readonly #held = new Map<string, pg.Client>()

  constructor({ home, gate }: ClientsOptions, connections: ConnectionLog, proxy: ConnectionProxy) {
    this.#home = home
    this.#gate = gate
    this.#connections = connections
    this.#proxy = proxy
  }

  get sharedPort(): number {
    return this.#proxy.sharedPort
  }

  /** A separate port, the same as in the last run if it is free. */
  async address(id: string): Promise<ComputeAddress> {
    const port = await this.#proxy.open(id, this.#home.ports.get(id))
    this.#home.keepPort(id, port)
    return { host: LOOPBACK, port, sharedPort: this.#proxy.sharedPort }
  }

  async portOf({ host, port }: { readonly host: string; readonly port: number }): Promise<number | undefined> {
    const name = host.split('.')[0] ?? ''
    if (this.#gate.isKnown(wantedOf(name).computeId)) return this.#proxy.open(name)
    return host === LOOPBACK && this.#proxy.isOwn(port) ? port : undefined
  }

  /** No further connections for a compute. */
  shut(id: string): void {
    this.#proxy.shut(id)
  }

  async connect(id: string, login: Login | undefined): Promise<ConnectionInfo> {
    if (login === undefined) throw new ConnectionRefusal(INVALID_LOGIN, 'the branch has no role that can log in')
    const address = { ...(await this.address(id)), ...login }
    const before = new Set(this.list().map((connection) => connection.id))
    const client = new pg.Client({ ...address, application_name: 'espalier sandbox connection' })
    client.on('error', () => undefined)
    await client.connect()
    const opened = this.list().find(
      (connection) => connection.computeId === id && connection.closedAt === undefined && !before.has(connection.id),
    )
    if (opened === undefined) throw new Error('a connection that was opened is not known')
    this.#held.set(opened.id, client)
    return opened
  }

  disconnect(connectionId: string): void {
    void this.#held
      .get(connectionId)
      ?.end()
      .catch(() => undefined)
    this.#held.delete(connectionId)
  }

  list(): readonly ConnectionInfo[] {
    return this.#connections.list()
  }

  endHeld(): void {
    for (const client of this.#held.values()) void client.end().catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#proxy.close()
  }
}
