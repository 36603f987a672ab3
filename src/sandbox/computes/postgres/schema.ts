/** Dumps the schema of a database, and removes the rows from a copy of a branch. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type ComputeSpec, ConnectionError, FEATURE_NOT_SUPPORTED, type Login } from '../computes.ts'
import { type Binaries, findPgDump } from './binaries.ts'
import type { Home } from './home.ts'
import { serveCompute } from './server.ts'
import { withSession } from './session.ts'

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Runs `pg_dump` as the owner of the database, so that code in the database has only the owner's privileges. `pg_dump`
 * must not be older than the server.
 *
 * @throws {ConnectionError} `0A000` if no `pg_dump` of version `major` or newer is found.
 */
export const dumpSchema = async (
  versions: ReadonlyMap<number, Binaries>,
  major: number,
  { port, user, password, database }: Login & { readonly port: number },
): Promise<string> => {
  const pgDump = await findPgDump(major, versions.values())
  if (pgDump === undefined) {
    throw new ConnectionError(
      FEATURE_NOT_SUPPORTED,
      `the schema needs pg_dump ${major} or newer: install the package postgresql-client-${major} (Debian, Ubuntu) or libpq (Homebrew), or set PG_DUMP to the path of the program and restart the sandbox`,
    )
  }
  // The database is not passed as an argument, because `pg_dump` would read a name such as `host=elsewhere` as a
  // connection string.
  const target = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: user, PGPASSWORD: password, PGDATABASE: database }
  const { stdout } = await promisify(execFile)(pgDump.program, ['--schema-only'], {
    env: { PATH: process.env.PATH, ...pgDump.env, ...target, LC_ALL: 'C' },
    maxBuffer: MAX_BYTES,
  })
  return withoutKeys(stdout)
}

/** Newer releases of `pg_dump` print a random key in `\\restrict` lines, which only psql needs. */
const withoutKeys = (sql: string): string => sql.replaceAll(/^\\(un)?restrict .*\n/gm, '')

/** The maximum number of connections, which is enough for the sandbox's own sessions. */
const CONNECTIONS = 20

/**
 * Removes everything that `pg_dump --schema-only` would not dump, except for the rows of tables that belong to
 * extensions. This script runs as the superuser, so it must not run code that clients defined. Therefore, the search
 * path is restricted, foreign tables are not touched, and triggers are disabled. They are disabled on all tables,
 * because `CASCADE` also affects other tables. They are disabled in `pg_class`, because Postgres reads `pg_class` again
 * after a change, but does not read `pg_trigger` again.
 */
const DROP_ROWS = `
DO $$
DECLARE
  name text;
  list text;
BEGIN
  SET LOCAL search_path = pg_catalog, pg_temp;
  CREATE TEMPORARY TABLE own ON COMMIT DROP AS
    SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind AS kind, c.oid
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
      AND c.oid NOT IN (SELECT objid FROM pg_depend WHERE classid = 'pg_class'::regclass AND deptype = 'e');
  CREATE TEMPORARY TABLE triggered ON COMMIT DROP AS SELECT oid FROM pg_class WHERE relhastriggers;
  UPDATE pg_class SET relhastriggers = false WHERE relhastriggers;
  SELECT string_agg('ONLY ' || own.name, ', ') INTO list FROM pg_temp.own WHERE kind = 'r';
  IF list IS NOT NULL THEN EXECUTE 'TRUNCATE ' || list || ' CASCADE'; END IF;
  FOR name IN SELECT own.name FROM pg_temp.own WHERE kind = 'S' LOOP
    EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART';
  END LOOP;
  FOR name IN SELECT own.name FROM pg_temp.own WHERE kind = 'm' LOOP
    EXECUTE 'REFRESH MATERIALIZED VIEW ' || name || ' WITH NO DATA';
  END LOOP;
  PERFORM lo_unlink(oid) FROM pg_largeobject_metadata;
  -- Statistics contain sample values.
  DELETE FROM pg_statistic WHERE starelid >= 16384;
  DELETE FROM pg_statistic_ext_data;
  UPDATE pg_class SET relhastriggers = true WHERE oid IN (SELECT oid FROM pg_temp.triggered);
END $$`

const DATABASES = `SELECT datname FROM pg_database WHERE datallowconn`

/** @param data the data folder of the copy. Nothing else may use it. */
export const dropRows = async (
  branchId: string,
  data: string,
  binaries: Binaries,
  { home, log }: { readonly home: Home; readonly log: (line: string) => void },
): Promise<void> => {
  const spec: ComputeSpec = {
    id: branchId,
    branchId,
    type: 'read_write',
    size: { min: 1, max: 1 },
    cu: 1,
    maxConnections: CONNECTIONS,
    tempDiskBytes: 0,
    settings: {},
    libraries: [],
    pgVersion: binaries.major,
    isLogical: false,
    catalog: { roles: [], databases: [] },
    changes: [],
  }
  const server = await serveCompute(spec, data, { home, binaries, log, onLostTrack: () => undefined })
  try {
    const databases = await withSession(server, (query) => query(DATABASES))
    for (const { datname } of databases) {
      await withSession(server, (query) => query(DROP_ROWS), String(datname))
    }
  } finally {
    await server.stop()
  }
}
