/** `POST /sql` runs SQL over HTTP. The protocol is that of the service's serverless driver (from its public source). */
import type { IncomingMessage, Server } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Context, Hono } from 'hono'
import { createWebSocketStream, WebSocketServer } from 'ws'
import { z } from 'zod'
import { type Computes, ConnectionError, type Login } from '../computes/computes.ts'
import { ApiError } from '../world/requests.ts'
import { limitBody, readBody } from './request.ts'

const MAX_BODY_BYTES = 64 * 1024 * 1024
const statement = z.object({ query: z.string(), params: z.array(z.string().nullable()).default([]) })
const body = z.union([statement, z.object({ queries: z.array(statement) })])

const LEVELS: Readonly<Record<string, string>> = {
  ReadUncommitted: 'READ UNCOMMITTED',
  ReadCommitted: 'READ COMMITTED',
  RepeatableRead: 'REPEATABLE READ',
  Serializable: 'SERIALIZABLE',
}
/** The fields of a Postgres error that the driver passes to the application. */
const ERROR_FIELDS = [
  ...['severity', 'code', 'detail', 'hint', 'position', 'internalPosition', 'internalQuery', 'where'],
  ...['schema', 'table', 'column', 'dataType', 'constraint', 'file', 'line', 'routine'],
]

export const sqlRoute = (app: Hono, computes: Computes): void => {
  app.post('/sql', limitBody(MAX_BODY_BYTES), async (context) => {
    const requested = await readBody(context, body)
    if (context.req.header('neon-raw-text-output') !== 'true') {
      throw new ApiError(400, 'Neon-Raw-Text-Output must be true: the sandbox returns values as text')
    }
    const statements = 'queries' in requested ? requested.queries : [requested]
    const begin = 'queries' in requested ? beginOf(context) : undefined
    const { host, port, ...login } = readTarget(context.req.header('neon-connection-string'))
    const target = await computes.portOf?.({ host, port })
    if (computes.kind === 'simulated')
      throw new ApiError(501, 'the sandbox simulates its computes, so it cannot run SQL')
    if (target === undefined) throw new ApiError(400, `this sandbox has no compute at ${host}:${port}`)
    try {
      const results = (await computes.runSql?.({ ...login, port: target }, statements, begin)) ?? []
      const isArray = context.req.header('neon-array-mode') === 'true'
      const shown = results.map((result) => ({ ...result, rowAsArray: isArray, rows: rowsOf(result, isArray) }))
      return context.json('queries' in requested ? { results: shown } : (shown[0] ?? {}))
    } catch (error) {
      return context.json(errorOf(error), 400)
    }
  })
}

/** @throws {ApiError} 400. */
const readTarget = (text: string | undefined): Login & { readonly host: string; readonly port: number } => {
  try {
    const { hostname, port, username, password, pathname, searchParams } = new URL(text ?? '')
    const [user, secret, database] = [username, password, pathname.slice(1)].map(decodeURIComponent)
    // On the port that all computes share, this option names the compute.
    const [, host = hostname] = /(?:^| )endpoint=(\S+)/.exec(searchParams.get('options') ?? '') ?? []
    if (user && secret !== undefined && database) {
      return { host, port: Number(port || 5432), user, password: secret, database }
    }
  } catch {
    // Reported below.
  }
  throw new ApiError(400, 'Neon-Connection-String must be a connection string with a role, a host and a database')
}

const beginOf = (context: Context): string => {
  const level = context.req.header('neon-batch-isolation-level')
  const parts = ['BEGIN']
  if (level !== undefined) {
    const known = LEVELS[level]
    if (known === undefined) {
      throw new ApiError(400, `Neon-Batch-Isolation-Level must be one of ${Object.keys(LEVELS).join(', ')}`)
    }
    parts.push(`ISOLATION LEVEL ${known}`)
  }
  if (context.req.header('neon-batch-read-only') === 'true') parts.push('READ ONLY')
  if (context.req.header('neon-batch-deferrable') === 'true') parts.push('DEFERRABLE')
  return parts.join(' ')
}

const rowsOf = (
  { rows, fields }: { readonly rows: readonly (readonly unknown[])[]; readonly fields: readonly object[] },
  isArray: boolean,
) => {
  if (isArray) return rows
  const names = fields.map((field) => ('name' in field ? String(field.name) : ''))
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])))
}

const errorOf = (error: unknown): object => {
  if (error instanceof ConnectionError) return { message: error.message, code: error.sqlState }
  if (!(error instanceof Error)) return { message: String(error) }
  const fields = Object.entries(error).filter(([name, value]) => ERROR_FIELDS.includes(name) && value !== undefined)
  return { message: error.message, ...Object.fromEntries(fields) }
}

// `/v2` serves the Postgres protocol over WebSocket, as used by the service's serverless driver (from its source).

const PATH = '/v2'
const LOOPBACK = '127.0.0.1'

/**
 * Connects clients only to the computes of this sandbox, whatever address they request.
 *
 * @returns a function that closes all connections. Closing the server does not close them, because the server does not
 *   track upgraded sockets.
 */
export const serveWebSockets = (server: Server, computes: Computes): (() => void) => {
  const open = new Set<Duplex>()
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false })
  server.on('upgrade', (request, socket, head) => {
    open.add(socket)
    socket.on('error', () => socket.destroy()).once('close', () => open.delete(socket))
    void target(request, computes)
      .catch(() => undefined)
      .then((port) => {
        if (port === undefined) reject(socket)
        else sockets.handleUpgrade(request, socket, head, (opened) => pass(createWebSocketStream(opened), port))
      })
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}

/** Reads `address=host:port`, which the driver appends to the URL. Rejects if the URL of the request is malformed. */
const target = async ({ url }: IncomingMessage, computes: Computes): Promise<number | undefined> => {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://localhost')
  const [, host, port] = /^(.+?)(?::(\d+))?$/.exec(searchParams.get('address') ?? '') ?? []
  if (pathname !== PATH || host === undefined) return undefined
  return computes.portOf?.({ host, port: Number(port ?? 0) })
}

const reject = (socket: Duplex): void =>
  void socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')

const pass = (client: Duplex, port: number): void => {
  const compute = connect(port, LOOPBACK)
  client.on('error', () => compute.destroy()).once('close', () => compute.destroy())
  compute.on('error', () => client.destroy()).once('close', () => client.end())
  client.pipe(compute).pipe(client)
}
