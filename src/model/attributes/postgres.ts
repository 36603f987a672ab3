/** The two attributes in the API's field `settings`. */
import { list, named, type Schema, text } from '../../base/index.ts'
import type { AttributeRow, WireSettings } from './row.ts'

type SettingsField = { readonly settings: 'settings' }

const SCALAR: Schema<string | number | boolean> = {
  not: { anyOf: [{ type: 'object' }, { type: 'array' }, { type: 'null' }] },
  $comment: 'E_SETTING',
}

export const POSTGRES_SETTINGS: AttributeRow<'map', SettingsField> = {
  type: 'map',
  path: 'postgres.settings',
  fields: { settings: 'settings' },
  schema: named(SCALAR, {
    description: 'Postgres settings (`pg_settings`). Settings that are not listed keep their values.',
    examples: [{ work_mem: '64MB' }],
  }),
  rule: 'only some Postgres settings can be reloaded, the others need a restart',
  impact: () => 'may-restart',
  satisfied: (desired, observed) => Object.entries(desired).every(([name, value]) => observed?.[name] === value),
  // The service takes text, so numbers are passed on as written.
  read: (value, { written }) =>
    Object.fromEntries(
      Object.entries(value as Readonly<Record<string, unknown>>).map(([name, one]) => [
        name,
        typeof one === 'string' ? one : (written(name) ?? String(one)),
      ]),
    ),
  write: (settings) => new Map(Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))),
  isImported: (settings) => Object.keys(settings).length > 0,
  fromWire: ({ settings }) => (settings === undefined ? undefined : (settings.pg_settings ?? {})),
  toWire: (settings) => ({ settings: { pg_settings: settings } }),
  format: (settings) =>
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
}

/** Settings that Postgres 14 to 17 read only when they start (`pg_settings.context` is `postmaster`). */
export const RESTART_ONLY_SETTINGS: ReadonlySet<string> = new Set(
  `archive_mode autovacuum_freeze_max_age autovacuum_max_workers autovacuum_multixact_freeze_max_age cluster_name
  commit_timestamp_buffers dynamic_shared_memory_type hot_standby huge_page_size huge_pages jit_provider
  logging_collector max_connections max_files_per_process max_locks_per_transaction max_logical_replication_workers
  max_notify_queue_pages max_pred_locks_per_transaction max_prepared_transactions max_replication_slots max_wal_senders
  max_worker_processes min_dynamic_shared_memory multixact_member_buffers multixact_offset_buffers notify_buffers
  reserved_connections serializable_buffers shared_buffers shared_memory_type subtransaction_buffers
  superuser_reserved_connections track_activity_query_size track_commit_timestamp transaction_buffers wal_buffers
  wal_decode_buffer_size wal_level wal_log_hints`.split(/\s+/),
)

export const POSTGRES_PRELOAD: AttributeRow<'list', SettingsField> = {
  type: 'list',
  path: 'postgres.preload',
  fields: { settings: 'settings' },
  schema: list(text(), {
    description:
      'The complete list `preload_libraries.enabled_libraries` of libraries to preload. Other parts of `settings`, such as `use_defaults`, are kept.',
    examples: [['pg_stat_statements']],
  }),
  rule: "the service's public OpenAPI: preloaded libraries are activated by a restart",
  impact: () => 'restart',
  absent: [],
  satisfied: (desired, observed = []) =>
    new Set(desired).size === new Set(observed).size && desired.every((library) => observed.includes(library)),
  read: (value) => [...(value as readonly string[])],
  write: (libraries) => [...libraries],
  isImported: (libraries) => libraries.length > 0,
  fromWire: ({ settings }) => settings?.preload_libraries && (settings.preload_libraries.enabled_libraries ?? []),
  toWire: (libraries) => ({ settings: { preload_libraries: { enabled_libraries: libraries } } }),
  format: (libraries) => (libraries.length === 0 ? '(none)' : libraries.join(', ')),
}

/** Sorts keys, so that requests do not depend on the order in which the API lists them. */
const sorted = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))

/** The complete `settings` with the changes applied. The service rejects `settings` without `pg_settings`. */
export const mergeSettings = (live: WireSettings, changes: WireSettings): WireSettings => ({
  ...sorted(live),
  pg_settings: sorted({ ...live.pg_settings, ...changes.pg_settings }),
  ...(changes.preload_libraries === undefined
    ? {}
    : { preload_libraries: { ...live.preload_libraries, ...changes.preload_libraries } }),
})

/** The part of the live `settings` that a request keeps, because it is not declared. `undefined` if there is none. */
export const undeclaredSettings = (live: WireSettings, declared: WireSettings = {}): WireSettings | undefined => {
  const { pg_settings = {}, preload_libraries: libraries, ...others } = live
  const settings = Object.entries(pg_settings).filter(([name]) => declared.pg_settings?.[name] === undefined)
  const { enabled_libraries: _, ...otherLibraries } = libraries ?? {}
  const kept = {
    ...others,
    pg_settings: Object.fromEntries(settings),
    preload_libraries: declared.preload_libraries === undefined ? (libraries ?? {}) : otherLibraries,
  }
  return Object.values(kept).every(isEmpty) ? undefined : kept
}

const isEmpty = (part: unknown): boolean => typeof part === 'object' && part !== null && Object.keys(part).length === 0
