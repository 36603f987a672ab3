/**
 * Client connections: the proxy in front of the servers, its ports, and the connections that the sandbox itself opened.
 */
import pg from 'pg'
import { messageOf } from '../../../base/index.ts'
import { type Computes, ConnectionError, type Gate } from '../computes.ts'
import { ConnectionLog } from '../connection-log.ts'
import { selfSigned } from '../proxy/certificate.ts'
import { targetOf } from '../proxy/messages.ts'
import { type ProxyOptions, type SharedPort, startProxy } from '../proxy/proxy.ts'
import { type Home, SUPERVISOR } from './home.ts'

export const LOOPBACK = '127.0.0.1'
const INVALID_LOGIN = '28000'
const NAMES = ['localhost', '*.localhost', '*.aws.neon.tech', '*.sandbox.test']

export interface ClientsOptions extends Pick<ProxyOptions, 'reach' | 'isDiskFull' | 'secretOf'>, SharedPort {
  readonly home: Home
  readonly gate: Gate
  readonly log: (line: string) => void
}

/** @throws {EspalierError} `E_LISTEN` if the port is taken. */
export const listenForClients = async ({ home, gate, port, anyPort, log, ...how }: ClientsOptions) => {
  const connections = new ConnectionLog()
  const held = new Map<string, pg.Client>()
  const proxy = await startProxy(
    {
      ...how,
      certificate: () => selfSigned(NAMES, Date.now()),
      log: connections,
      reservedRole: SUPERVISOR,
      onBug: (error) => log(`proxy  ${messageOf(error)}`),
    },
    { port, anyPort },
  )
  const clients = {
    sharedPort: proxy.sharedPort,
    /** Opens the compute's own port. It is the same port as in the last run of the sandbox if that port is free. */
    address: async (id) => {
      const own = await proxy.open(id, home.ports.get(id))
      home.storePort(id, own)
      return { host: LOOPBACK, port: own, sharedPort: proxy.sharedPort }
    },
    portOf: async ({ host, port: requested }) => {
      const name = host.split('.')[0] ?? ''
      if (gate.isKnown(targetOf(name).computeId)) return proxy.open(name)
      return host === LOOPBACK && proxy.isOwn(requested) ? requested : undefined
    },
    /** Stops accepting connections for a compute. */
    shut: proxy.shut,
    connect: async (id, login) => {
      if (login === undefined) throw new ConnectionError(INVALID_LOGIN, 'the branch has no role that can log in')
      const address = { ...(await clients.address(id)), ...login }
      const before = new Set(connections.list().map((connection) => connection.id))
      const client = new pg.Client({ ...address, application_name: 'espalier sandbox connection' })
      client.on('error', () => undefined)
      await client.connect()
      const opened = connections
        .list()
        .find(({ id: own, computeId, closedAt }) => computeId === id && closedAt === undefined && !before.has(own))
      if (opened === undefined) throw new Error('the proxy did not log a connection that was opened')
      held.set(opened.id, client)
      return opened
    },
    disconnect: (connectionId) => {
      void held
        .get(connectionId)
        ?.end()
        .catch(() => undefined)
      held.delete(connectionId)
    },
    connections: () => connections.list(),
    endHeld: (): void => {
      for (const client of held.values()) void client.end().catch(() => undefined)
    },
    close: proxy.close,
  } satisfies Partial<Computes> & Record<string, unknown>
  return clients
}
