/**
 * SQL sessions in which the sandbox itself works as the superuser. Clients never learn the superuser's password, and
 * the proxy rejects its name.
 */
import pg from 'pg'
import { type PostgresServer, SOCKET_PORT } from './server.ts'

export const SUPERVISOR = 'supervisor'

/** The first version in which event triggers can be turned off (release notes). */
const HAS_EVENT_SWITCH = 17

export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

/** Runs `use` with a session, then closes the session. */
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
  await client.connect()
  try {
    return await use(async (sql, values = []) => (await client.query(sql, [...values])).rows)
  } finally {
    await client.end().catch(() => undefined)
  }
}
