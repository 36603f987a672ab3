/** Makes a copy of a branch one of its schema only. Not by dump and restore: those programs are often not there. */
import type { Home } from './home.ts'
import { serveCompute } from './serve-compute.ts'
import { withSession } from './session.ts'

/** Enough for the sandbox's own sessions. */
const CONNECTIONS = 20

/** Whatever `pg_dump --schema-only` leaves out. Rows of an extension's own tables belong to the extension. */
const DROP_ROWS = `
DO $$
DECLARE
  name text;
  tables text;
BEGIN
  SET LOCAL session_replication_role = replica;
  CREATE TEMPORARY VIEW own ON COMMIT DROP AS
    SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind AS kind
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
      AND c.oid NOT IN (SELECT objid FROM pg_depend WHERE classid = 'pg_class'::regclass AND deptype = 'e');
  SELECT string_agg(own.name, ', ') INTO tables FROM own WHERE kind IN ('r', 'p');
  IF tables IS NOT NULL THEN EXECUTE 'TRUNCATE ' || tables || ' RESTART IDENTITY CASCADE'; END IF;
  FOR name IN SELECT own.name FROM own WHERE kind = 'S' LOOP EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART'; END LOOP;
  FOR name IN SELECT own.name FROM own WHERE kind = 'm' LOOP
    EXECUTE 'REFRESH MATERIALIZED VIEW ' || name || ' WITH NO DATA';
  END LOOP;
  PERFORM lo_unlink(oid) FROM pg_largeobject_metadata;
  -- They hold samples of what the columns held.
  DELETE FROM pg_statistic WHERE starelid >= 16384;
  DELETE FROM pg_statistic_ext_data;
END $$`

const DATABASES = `SELECT datname FROM pg_database WHERE datallowconn`

/** @param data the folder of the copy, which nothing else uses. */
export const dropRows = async (
  branchId: string,
  data: string,
  home: Home,
  log: (line: string) => void,
): Promise<void> => {
  const spec = {
    id: branchId,
    branchId,
    type: 'read_write' as const,
    maxConnections: CONNECTIONS,
    tempDiskBytes: 0,
    settings: {},
    libraries: [],
  }
  const server = await serveCompute(spec, data, { home, log, onLostTrack: () => undefined })
  try {
    const databases = await withSession(server, home.password, (query) => query(DATABASES))
    for (const { datname } of databases) {
      await withSession(server, home.password, (query) => query(DROP_ROWS), String(datname))
    }
  } finally {
    await server.stop()
  }
}
