/** Dumps a database's schema with `pg_dump`, which must not be older than the server. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ConnectionRefusal, FEATURE_NOT_SUPPORTED, type Login } from '../computes.ts'
import type { Binaries } from './binaries.ts'

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Runs as the owner of the database, so that code in the database has the owner's privileges only.
 *
 * @throws {ConnectionRefusal} `0A000` if no `pg_dump` of that version or newer is installed.
 */
export const dumpSchema = async (
  versions: ReadonlyMap<number, Binaries>,
  major: number,
  { port, user, password, database }: Login & { readonly port: number },
): Promise<string> => {
  const usable = [...versions.values()].filter(({ pgDump, major: own }) => pgDump !== undefined && own >= major)
  const [best] = usable.sort((a, b) => a.major - b.major)
  if (best?.pgDump === undefined) {
    throw new ConnectionRefusal(
      FEATURE_NOT_SUPPORTED,
      `the schema needs pg_dump ${major} or newer, which is not installed: install Postgres' client programs`,
    )
  }
  // Not as an argument: `pg_dump` would take a name such as `host=elsewhere` for a connection string.
  const target = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: user, PGPASSWORD: password, PGDATABASE: database }
  const { stdout } = await promisify(execFile)(best.pgDump, ['--schema-only'], {
    env: { PATH: process.env.PATH, ...best.env, ...target, LC_ALL: 'C' },
    maxBuffer: MAX_BYTES,
  })
  return withoutKeys(stdout)
}

/** Newer releases print a random key in `\\restrict` lines, which are only for psql. */
const withoutKeys = (sql: string): string => sql.replaceAll(/^\\(un)?restrict .*\n/gm, '')
