/**
 * SQL sessions in which the sandbox itself works as the superuser. Clients never learn the superuser's password, and
 * the proxy rejects its name.
 */
import pg from 'pg'
import { messageOf } from '../../../base/index.ts'
import { CANNOT_CONNECT_NOW, ConnectionError, type Login, type Statement, type StatementResult } from '../computes.ts'
import { SOCKET_PORT, SUPERVISOR } from './home.ts'
import type { PostgresServer } from './server.ts'

/** The first version in which event triggers can be turned off (release notes). */
const HAS_EVENT_SWITCH = 17

export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

/**
 * The errors of a server that is stopping, starting or gone: SQLSTATEs (PostgreSQL documentation, appendix A), errors of
 * its socket, and the messages of `pg`.
 */
const GOING =
  /^(57P0[123]|08\w{3}|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT connect|Connection terminated.*|Client .* is not queryable)$/

const asConnectionError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { code = error.message, syscall } = error as NodeJS.ErrnoException
  const isGoing = GOING.test(code === 'ENOENT' ? `${code} ${syscall}` : code)
  return isGoing ? new ConnectionError(CANNOT_CONNECT_NOW, messageOf(error)) : error
}

/**
 * Runs `use` with a session, then closes the session.
 *
 * @throws {ConnectionError} if the server is stopping or gone.
 */
export const withSession = async <T>(
  { socketFolder, major, password }: PostgresServer,
  use: (query: Query) => Promise<T>,
  database = 'postgres',
): Promise<T> => {
  const client = new pg.Client({
    host: socketFolder,
    port: SOCKET_PORT,
    user: SUPERVISOR,
    password,
    database,
    application_name: 'espalier sandbox',
    // With these options, objects that clients created cannot shadow system objects, settings of their database cannot
    // change the role, and failed statements are not logged, because they may contain a password.
    options: [
      '-c search_path=pg_catalog,pg_temp -c role=none -c log_min_error_statement=panic',
      ...(major >= HAS_EVENT_SWITCH ? ['-c event_triggers=off'] : []),
    ].join(' '),
  })
  // If the server stops, the pending query fails and reports the error.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await use(async (sql, values = []) => (await client.query(sql, [...values])).rows)
  } catch (error) {
    throw asConnectionError(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

// Runs the statements of one HTTP request in a new session.

/** Returns all values as text, because the client converts them itself. */
const asText: pg.CustomTypesConfig = { getTypeParser: () => (value: string | Buffer) => String(value) }

/** @param begin the BEGIN of a transaction around all statements. Default: each statement is its own transaction. */
export const runSql = async (
  at: Login & { readonly host: string; readonly port: number },
  statements: readonly Statement[],
  begin: string | undefined,
): Promise<readonly StatementResult[]> => {
  const client = new pg.Client({ ...at, application_name: 'serverless driver' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const results: StatementResult[] = []
    if (begin !== undefined) await client.query(begin)
    for (const { query, params } of statements) results.push(await runOne(client, query, params))
    if (begin !== undefined) await client.query('COMMIT')
    return results
  } finally {
    await client.end().catch(() => undefined)
  }
}

const runOne = async (client: pg.Client, text: string, values: Statement['params']): Promise<StatementResult> => {
  const { command, rowCount, fields, rows } = await client.query<(string | null)[]>({
    text,
    values: [...values],
    rowMode: 'array',
    types: asText,
    // The extended protocol accepts only a single statement, as the service does.
    queryMode: 'extended',
  } as pg.QueryArrayConfig)
  return { command, rowCount, fields, rows }
}
