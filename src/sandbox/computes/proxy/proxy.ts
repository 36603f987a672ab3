/**
 * Accepts client connections, both on a port for each compute and on a port that all computes share. Starts computes
 * that are idle, and forwards all bytes.
 */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { EspalierError } from '../../../base/index.ts'
import { CANNOT_CONNECT_NOW, ConnectionError, NO_SUCH_COMPUTE } from '../computes.ts'
import type { ConnectionLog } from '../connection-log.ts'
import type { Certificate } from './certificate.ts'
import {
  asFullDisk,
  encodeStartup,
  errorResponse,
  type FirstMessage,
  keyOf,
  processOf,
  readFirstMessage,
  ServerMessages,
  type Startup,
  type Target,
  takeEndpoint,
  targetOf,
} from './messages.ts'
import { bindChannel, type ReadAhead } from './scram.ts'

export interface ProxyOptions {
  /** Resolves with the socket of a compute's server once it accepts connections. */
  readonly reach: (target: Target) => Promise<string>
  readonly certificate: () => Certificate
  /** Whether a server process's query was just cancelled because the temporary disk was full. */
  readonly isDiskFull: (pid: number) => boolean
  readonly log: ConnectionLog
  /** The name of the sandbox's own superuser, which clients cannot use. */
  readonly reservedRole: string
  /** Called with unexpected errors. */
  readonly onBug: (error: unknown) => void
  /** Returns the role's SCRAM secret from `pg_authid`. */
  readonly secretOf: (target: Target, role: string) => Promise<string | undefined>
}

const LOOPBACK = '127.0.0.1'
/** How long to wait for a client's startup message. */
const PATIENCE_MS = 30_000
const PROTOCOL_VIOLATION = '08P01'
const INVALID_AUTHORIZATION = '28000'
const INTERNAL_ERROR = { sqlState: 'XX000', message: 'internal error of the sandbox: see its log' }

/** The port that all computes share. */
export interface SharedPort {
  /** Default 0: any free port. */
  readonly port?: number | undefined
  /** Whether to use any free port if `port` is taken. Default: no. */
  readonly anyPort?: boolean | undefined
}

/** @throws {EspalierError} `E_LISTEN` if the port is taken. */
export const startProxy = async (options: ProxyOptions, { port = 0, anyPort = false }: SharedPort) => {
  const servers = new Map<string, Promise<Server>>()
  const ports = new Set<number>()
  const clients = new Set<Socket>()
  /** The sockets of servers, by the cancel keys that the servers issued. */
  const cancelKeys = new Map<string, string>()
  let tls: { readonly context: SecureContext; readonly certificate: Buffer } | undefined
  const secure = (socket: Socket): TLSSocket => {
    if (tls === undefined) {
      const { key, cert } = options.certificate()
      tls = { context: createSecureContext({ key, cert }), certificate: new X509Certificate(cert).raw }
    }
    return new TLSSocket(socket, { isServer: true, secureContext: tls.context })
  }

  const fail = (socket: Socket, error: unknown): void => {
    if (socket.destroyed) return
    const isExpected = error instanceof ConnectionError
    if (!isExpected) options.onBug(error)
    const { sqlState: code, message } = isExpected ? error : INTERNAL_ERROR
    socket.end(errorResponse({ code, message }))
  }

  const serve = (socket: Socket, own: string | undefined): void => {
    clients.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => clients.delete(socket))
    void admit(socket, own).catch((error: unknown) => fail(socket, error))
  }

  /** Negotiates TLS. Returns the resulting socket and the client's first message after that. */
  const greet = async (
    raw: Socket,
  ): Promise<{ readonly socket: Socket; readonly message: FirstMessage; readonly rest: Buffer }> => {
    let socket = raw
    for (;;) {
      const { message, rest } = await firstMessage(socket)
      if (message.kind === 'gss') socket.write('N')
      else if (message.kind === 'ssl') {
        if (socket !== raw || rest.length > 0) throw new ConnectionError(PROTOCOL_VIOLATION, 'unexpected SSLRequest')
        socket.write('S')
        socket = secure(raw)
        socket.on('error', () => raw.destroy())
        await once(socket, 'secure')
      } else return { socket, message, rest }
    }
  }

  const admit = async (raw: Socket, own: string | undefined): Promise<void> => {
    const { socket, message, rest } = await greet(raw)
    try {
      if (message.kind === 'cancel') return cancel(socket, message.key, message.bytes)
      if (message.kind !== 'startup') throw new ConnectionError(PROTOCOL_VIOLATION, 'invalid startup packet')
      const { startup, endpoint } = takeEndpoint(message)
      const { reservedRole } = options
      if (startup.parameters.get('user') === reservedRole) {
        throw new ConnectionError(INVALID_AUTHORIZATION, `role "${reservedRole}" is not permitted to log in`)
      }
      const target = own === undefined ? targetOf(endpoint ?? serverName(socket)) : targetOf(own)
      await pass(socket, target, startup, rest)
    } catch (error) {
      fail(socket, error)
    }
  }

  const pass = async (client: Socket, target: Target, startup: Startup, rest: Buffer): Promise<void> => {
    const { server, path } = await dial(target)
    if (client.destroyed) return void server.destroy()
    const connection = options.log.open(target.computeId)
    let key: string | undefined
    const messages = new ServerMessages((type, message) => {
      const found = keyOf(type, message)
      if (found !== undefined) {
        key = found
        cancelKeys.set(found, path)
      }
      return asFullDisk(type, message, () => key !== undefined && options.isDiskFull(processOf(key)))
    })
    server.on('error', () => client.end())
    server.once('close', () => {
      options.log.close(connection.id)
      if (key !== undefined) cancelKeys.delete(key)
      client.end()
    })
    client.once('close', () => server.destroy())
    server.write(encodeStartup(startup))
    const { toClient, toServer } = await logIn(client, server, target, startup, rest)
    if (toServer.length > 0) server.write(toServer)
    messages.pipe(client)
    if (toClient.length > 0) messages.write(toClient)
    server.pipe(messages)
    client.pipe(server)
  }

  /** Offers channel binding over TLS, except for pooled connections, whose login the pooler handles. */
  const logIn = async (
    client: Socket,
    server: Socket,
    target: Target,
    { parameters }: Startup,
    rest: Buffer,
  ): Promise<ReadAhead> => {
    if (!(client instanceof TLSSocket) || tls === undefined || target.pooled) {
      return { toClient: Buffer.alloc(0), toServer: rest }
    }
    try {
      const secretOf = (role: string) => options.secretOf(target, role)
      const user = parameters.get('user') ?? ''
      return await bindChannel({ client, server, user, certificate: tls.certificate, secretOf }, rest)
    } catch (error) {
      server.destroy()
      throw error
    }
  }

  /** Connects to a compute. Retries, because a compute may stop just before the connection is made. */
  const dial = async (target: Target): Promise<{ readonly server: Socket; readonly path: string }> => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const path = await options.reach(target)
      const server = connect(path)
      try {
        await once(server, 'connect')
        return { server, path }
      } catch {
        server.destroy()
      }
    }
    throw new ConnectionError(CANNOT_CONNECT_NOW, 'the compute is not accepting connections: try again')
  }

  const cancel = (client: Socket, key: string, bytes: Buffer): void => {
    const path = cancelKeys.get(key)
    if (path === undefined) return void client.end()
    const server = connect(path, () => server.end(bytes))
    server.on('error', () => undefined)
    server.once('close', () => client.end())
    server.resume()
  }

  const listen = async (port: number, own: string | undefined): Promise<Server> => {
    const server = createServer((socket) => serve(socket, own))
    server.listen(port, LOOPBACK)
    await once(server, 'listening')
    const number = portOf(server)
    ports.add(number)
    server.once('close', () => ports.delete(number))
    return server
  }

  const shared = await listen(port, undefined).catch((cause: unknown) => {
    if (anyPort) return listen(0, undefined)
    throw new EspalierError('E_LISTEN', `The sandbox cannot listen for connections on port ${port}.`, {
      hint: 'Another program may be using it. Choose another port with --pg-port, or 0 for any free port.',
      cause,
    })
  })
  return {
    sharedPort: portOf(shared),
    /** Whether the proxy listens on this port. */
    isOwn: (number: number): boolean => ports.has(number),
    /** Listens for a compute, or with `-pooler` for its pooler: on `port` if it is free. Returns the port. */
    open: async (name: string, port = 0): Promise<number> => {
      const server = servers.get(name) ?? listen(port, name).catch(() => listen(0, name))
      servers.set(name, server)
      return portOf(await server)
    },
    /** Stops accepting connections for a compute, pooled or not. Open connections are kept. */
    shut: (computeId: string): void => {
      for (const [name, server] of servers) {
        if (targetOf(name).computeId !== computeId) continue
        servers.delete(name)
        void server.then((own) => own.close())
      }
    },
    close: async (): Promise<void> => {
      const all = [shared, ...(await Promise.all(servers.values()))]
      const closed = all.map((server) => once(server, 'close'))
      for (const server of all) server.close()
      for (const client of clients) client.destroy()
      await Promise.all(closed)
    },
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** The first label of the host name in TLS SNI. */
const serverName = (socket: Socket): string => {
  const name = socket instanceof TLSSocket && typeof socket.servername === 'string' ? socket.servername : ''
  if (name !== '') return name.split('.')[0] ?? ''
  throw new ConnectionError(
    NO_SUCH_COMPUTE,
    'Endpoint ID is not specified: add options=endpoint%3D<endpoint-id> to the connection string, or use TLS with SNI',
  )
}

const firstMessage = (socket: Socket): Promise<{ readonly message: FirstMessage; readonly rest: Buffer }> =>
  new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const finish = (act: () => void): void => {
      clearTimeout(timer)
      socket.off('data', take).off('close', gone)
      socket.pause()
      act()
    }
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      const read = readFirstMessage(bytes)
      if (read !== undefined) finish(() => resolve({ message: read.message, rest: bytes.subarray(read.length) }))
    }
    const gone = (): void => finish(() => reject(new Error('the client disconnected')))
    const timer = setTimeout(() => {
      finish(() => reject(new ConnectionError(PROTOCOL_VIOLATION, 'no startup packet received')))
    }, PATIENCE_MS)
    socket.on('data', take).once('close', gone)
    socket.resume()
  })
