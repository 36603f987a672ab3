/** SQL of the sandbox's own, as the superuser. */
import pg from 'pg'
import type { PostgresServer } from './server.ts'
import { SOCKET_PORT } from './settings.ts'

export const SUPERVISOR = 'supervisor'

/** Runs `use` with a session that ends after it. */
export const withSession = async <T>(
  server: PostgresServer,
  password: string,
  use: (query: (sql: string) => Promise<readonly Record<string, unknown>[]>) => Promise<T>,
  database = 'postgres',
): Promise<T> => {
  const client = new pg.Client({
    host: server.socketFolder,
    port: SOCKET_PORT,
    user: SUPERVISOR,
    password,
    database,
    application_name: 'espalier sandbox',
  })
  // A server that stops ends the session; the query that waits on it says so.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await use(async (sql) => (await client.query(sql)).rows)
  } finally {
    await client.end().catch(() => undefined)
  }
}
