/** Reduces a copy of a branch to its schema. Not by dump and restore: those programs are often not installed. */
import type { ComputeSpec } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import { serveCompute } from './serve-compute.ts'
import { withSession } from './session.ts'

/** Enough for the sandbox's own sessions. */
const CONNECTIONS = 20

/**
 * Removes what `pg_dump --schema-only` leaves out, except for the rows of extensions' own tables. It runs as the
 * superuser, so it must not run clients' code: the search path is restricted, foreign tables are not touched, and
 * triggers are disabled on all tables, because `CASCADE` reaches further ones. That is done in `pg_class`: unlike
 * `pg_trigger`, Postgres reads it again after a change.
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
    const databases = await withSession(server, home.password, (query) => query(DATABASES))
    for (const { datname } of databases) {
      await withSession(server, home.password, (query) => query(DROP_ROWS), String(datname))
    }
  } finally {
    await server.stop()
  }
}
